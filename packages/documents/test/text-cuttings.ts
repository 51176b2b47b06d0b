import { type ParsedSegment, type TextParserEvent, type TextSegment, createTextParser } from "../src/text-parser.ts";

/** A repeatable source of numbers from 0 up to, not including, 1. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Cuts a text into chunks of at most this length. */
export function toChunks(text: string, length: number): string[] {
  const chunks: string[] = [];
  for (let at = 0; at < text.length; at += length) chunks.push(text.slice(at, at + length));
  return chunks;
}

/** Cuts a text at random into chunks of 1 to `longest` characters. */
export function toRandomChunks(text: string, random: () => number, longest: number): string[] {
  const chunks: string[] = [];
  for (let at = 0; at < text.length;) {
    const end = at + 1 + Math.floor(random() * longest);
    chunks.push(text.slice(at, end));
    at = end;
  }
  return chunks;
}

/** The segments of a text that comes in these chunks. Throws where the events break their grammar. */
export function parseChunks(chunks: Iterable<string>): ParsedSegment[] {
  const parser = createTextParser();
  const events: TextParserEvent[] = [];
  for (const chunk of chunks) {
    const more = parser.push(chunk);
    if (more.some((event, at) => event.type === "segment_delta" && more[at + 1]?.type === "segment_delta")) {
      throw new Error(`two deltas of one segment for one chunk: ${JSON.stringify(more)}`);
    }
    for (const event of more) events.push(event);
  }
  return toSegments([...events, ...parser.end()]);
}

/** Folds events into segments. Throws where the events break their grammar: start, deltas, end, none of them empty. */
function toSegments(events: Iterable<TextParserEvent>): ParsedSegment[] {
  const segments: ParsedSegment[] = [];
  let segment: TextSegment | undefined;
  let content = "";
  for (const event of events) {
    if ((event.type === "segment_start") === (segment !== undefined)) {
      throw new Error(`${event.type} while a segment is ${segment === undefined ? "not " : ""}open`);
    }
    if (event.type === "segment_start") {
      segment = event.segment;
      content = "";
    } else if (event.type === "segment_delta") {
      if (event.delta === "") throw new Error("empty delta");
      content += event.delta;
    } else if (segment !== undefined) {
      const { type: _, ...end } = event;
      segments.push({ ...segment, content, ...end });
      segment = undefined;
    }
  }
  if (segment !== undefined) throw new Error("the last segment has no end");
  return segments;
}
