import type { NestedCodeBlock } from "@sheaf/protocol";
import { isBlank, isHighSurrogate } from "./characters.ts";
import type { SegmentSink, TextSegment } from "./text-segment.ts";

/**
 * Makes segments out of stretches of chunks: at most one delta per chunk and segment. What must wait is held
 * as it came (N26). Only slices of the current chunk are copied.
 */
export class SegmentWriter {
  /** The current chunk up to here may be sent, after all that is held; -1: nothing may. */
  safeEnd = -1;
  /** True if the start of the segment has been sent. */
  hasStarted = false;
  #chunk = "";
  /** Start of the part of the current chunk that is neither held nor ready yet. */
  #from = 0;
  #held = "";
  #ready = "";
  #segment: TextSegment = { type: "text" };
  #length = 0;
  readonly #sink: SegmentSink;

  constructor(sink: SegmentSink) {
    this.#sink = sink;
  }

  /** Takes a whole chunk: sends what is held with the first `length` characters, at least one, and holds the rest. */
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

  /** Ends the chunk: sends what is safe and holds the rest. */
  closeChunk(): void {
    const length = this.#chunk.length;
    if (this.safeEnd === length && isHighSurrogate(this.#chunk.charCodeAt(length - 1))) {
      // Half a character has no UTF-8, so it waits for the other half.
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
   * Ends the segment and drops what is not safe. A segment that has not started leaves no event.
   * Offsets and lengths of `codeBlocks` are clamped to the content.
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

  /** Drops what is held and the current chunk up to `at`. */
  drop(at: number): void {
    this.#held = "";
    this.#from = at;
    this.safeEnd = -1;
  }

  /** True if nothing is held or waiting in the current chunk before `at`. */
  isEmptyUntil(at: number): boolean {
    return this.#from === at && this.#held === "";
  }

  /** Replaces `from` … `to` of the current chunk by this many spaces. */
  replace(from: number, to: number, spaces: number): void {
    this.#settle(from);
    if (spaces > 0) this.#held += " ".repeat(spaces);
    this.#from = to;
  }

  /** Releases what is held, except trailing blanks and line ends. Call it before anything of a chunk. */
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
