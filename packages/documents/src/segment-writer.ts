import type { NestedCodeBlock } from "@sheaf/protocol";
import { isBlank, isHighSurrogate } from "./characters.ts";
import type { SegmentSink, TextSegment } from "./text-segment.ts";

/**
 * Makes segments out of parts of chunks: at most one delta per chunk and segment. Waiting text is held unchanged (N26).
 * It copies only slices of the current chunk.
 */
export class SegmentWriter {
  /** End of the text in the current chunk that may be sent after all held text; -1 if no text may. */
  safeEnd = -1;
  /** True if the start of the segment has been sent. */
  hasStarted = false;
  #chunk = "";
  /** Start of the text in the current chunk that is not yet held or ready. */
  #from = 0;
  #held = "";
  #ready = "";
  #segment: TextSegment = { type: "text" };
  #length = 0;
  readonly #sink: SegmentSink;

  constructor(sink: SegmentSink) {
    this.#sink = sink;
  }

  /** Takes a whole chunk. Sends the held text and the first `length` characters, at least one, and holds the rest. */
  passChunk(chunk: string, length: number): void {
    let delta = chunk;
    if (length < chunk.length || this.#held !== "") {
      delta = this.#held + chunk.slice(0, length);
      this.#held = chunk.slice(length);
    }
    this.#length += delta.length;
    this.#sink.writeDelta(delta);
  }

  /** Starts with the next chunk. */
  openChunk(chunk: string): void {
    this.#chunk = chunk;
    this.#from = 0;
    this.safeEnd = -1;
  }

  /** Ends the chunk: sends the safe part and holds the rest. */
  closeChunk(): void {
    const length = this.#chunk.length;
    if (this.safeEnd === length && isHighSurrogate(this.#chunk.charCodeAt(length - 1))) {
      // Half a character waits for its other half, since it has no UTF-8.
      this.safeEnd = length - 1 > this.#from ? length - 1 : -1;
    }
    this.#settle(length);
    this.#flush();
  }

  /** Starts a segment. A text starts with its first delta only, so that blank text makes no segment (N10, N26). */
  startSegment(segment: TextSegment): void {
    this.#segment = segment;
    this.hasStarted = false;
    this.#length = 0;
    if (segment.type !== "text") this.#start();
  }

  /**
   * Ends the segment and drops text that is not safe. A segment that has not started leaves no event. Offsets and
   * lengths of `codeBlocks` are clamped to the content.
   */
  endSegment(closed: boolean, codeBlocks: readonly NestedCodeBlock[]): void {
    this.#settle(this.#from);
    this.#flush();
    this.#held = "";
    if (!this.hasStarted) return;
    const total = this.#length;
    this.#sink.endSegment(
      codeBlocks.length === 0 ? { closed } : { closed, codeBlocks: codeBlocks.map((block) => toClamped(block, total)) },
    );
  }

  /** Drops the held text, and the current chunk up to `at`. */
  drop(at: number): void {
    this.#held = "";
    this.#from = at;
    this.safeEnd = -1;
  }

  /** True if no text before `at` is held or waits in the current chunk. */
  isEmptyUntil(at: number): boolean {
    return this.#from === at && this.#held === "";
  }

  /** Replaces the current chunk's part from `from` to `to` by this many spaces. */
  replace(from: number, to: number, spaces: number): void {
    this.#settle(from);
    if (spaces > 0) this.#held += " ".repeat(spaces);
    this.#from = to;
  }

  /** Releases the held text, except trailing blanks and line ends. Call it before the chunk's first text. */
  releaseHeldText(): void {
    let end = this.#held.length;
    while (end > 0 && isBlankOrLineEnd(this.#held.charCodeAt(end - 1))) end -= 1;
    this.#ready += this.#held.slice(0, end);
    this.#held = "";
  }

  /** Makes the safe part ready and holds the rest of the current chunk up to `end`. */
  #settle(end: number): void {
    if (this.safeEnd >= 0) {
      this.#ready += this.#held + this.#chunk.slice(this.#from, this.safeEnd);
      this.#held = this.#chunk.slice(this.safeEnd, end);
      this.safeEnd = -1;
    } else if (end > this.#from) {
      this.#held += this.#chunk.slice(this.#from, end);
    }
    this.#from = end;
  }

  #flush(): void {
    if (this.#ready === "") return;
    if (!this.hasStarted) this.#start();
    const delta = this.#ready;
    this.#length += delta.length;
    this.#ready = "";
    this.#sink.writeDelta(delta);
  }

  #start(): void {
    this.hasStarted = true;
    this.#sink.startSegment(this.#segment);
  }
}

function toClamped(block: NestedCodeBlock, total: number): NestedCodeBlock {
  const offset = Math.min(block.offset, total);
  return { offset, length: Math.min(block.length, total - offset), language: block.language };
}

function isBlankOrLineEnd(code: number): boolean {
  return isBlank(code) || code === 0x0a || code === 0x0d;
}
