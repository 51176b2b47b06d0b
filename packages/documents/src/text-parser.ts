import { FenceParser } from "./fence-parser.ts";
import type { SegmentEnd, SegmentSink, TextParserEvent, TextSegment } from "./text-segment.ts";

export type { CodePurpose, NestedCodeBlock } from "@sheaf/protocol";
export type {
  TextParserEvent,
  TextSegment,
  TextSegmentCodeBlock,
  TextSegmentCodeReference,
  TextSegmentText,
} from "./text-segment.ts";

/** Splits the text of one model request into segments while it streams (N15–N27). Use one per request (N27). */
export interface TextParser {
  /** Takes the next piece of text, cut anywhere. Returns the certain events: at most one delta per segment. */
  push(chunk: string): TextParserEvent[];
  /** Ends the text: returns the rest and ends the open segment. Call it once, last. */
  end(): TextParserEvent[];
}

/** A segment of a complete text, with its content. */
export type ParsedSegment = TextSegment & SegmentEnd & { readonly content: string };

/** Creates a parser for the text of one model request. */
export function createTextParser(): TextParser {
  return new EventParser();
}

/** Returns the segments of a complete text. By the chunk law (N25) they do not depend on how a stream cuts it. */
export function parseText(text: string): ParsedSegment[] {
  const parser = createTextParser();
  const segments: ParsedSegment[] = [];
  let segment: TextSegment = { type: "text" };
  let content = "";
  for (const event of [...parser.push(text), ...parser.end()]) {
    if (event.type === "segment_start") {
      segment = event.segment;
      content = "";
    } else if (event.type === "segment_delta") {
      content += event.delta;
    } else {
      const { type: _, ...end } = event;
      segments.push({ ...segment, content, ...end });
    }
  }
  return segments;
}

class EventParser implements TextParser, SegmentSink {
  readonly #parser = new FenceParser(this);
  /** Events since the last call. Mostly there is one, and an array literal of one takes the least memory. */
  #events: TextParserEvent[] | undefined;

  push(chunk: string): TextParserEvent[] {
    this.#parser.push(chunk);
    return this.#take();
  }

  end(): TextParserEvent[] {
    this.#parser.end();
    return this.#take();
  }

  startSegment(segment: TextSegment): void {
    this.#append({ type: "segment_start", segment });
  }

  writeDelta(delta: string): void {
    this.#append({ type: "segment_delta", delta });
  }

  endSegment(end: SegmentEnd): void {
    this.#append({ type: "segment_end", ...end });
  }

  #append(event: TextParserEvent): void {
    if (this.#events === undefined) this.#events = [event];
    else this.#events.push(event);
  }

  #take(): TextParserEvent[] {
    const events = this.#events ?? [];
    this.#events = undefined;
    return events;
  }
}
