import type { OpenFence } from "./block-structure.ts";
import { carriageReturn, findBlankEnd, isHighSurrogate, isLineEnd, lineFeed } from "./characters.ts";
import { CodeLineScanner } from "./code-line-scanner.ts";
import { parseInfoString } from "./info-string.ts";
import { SegmentWriter } from "./segment-writer.ts";
import { TextLineScanner } from "./text-line-scanner.ts";
import type { SegmentSink } from "./text-segment.ts";

/** Splits the text of one model request into segments (N15–N27). It switches between the line scanners. */
export class FenceParser {
  readonly #writer: SegmentWriter;
  readonly #text: TextLineScanner;
  /** The scanner inside of a top-level fence; undefined outside. */
  #code: CodeLineScanner | undefined;
  /** UTF-16 units of the text before the current chunk. */
  #chunkStart = 0;
  /** True if the last line end was a CR: an LF right after it belongs to it. */
  #afterReturn = false;
  /** True if the segment has started, and its current line decides no more. */
  #passes = false;

  constructor(sink: SegmentSink) {
    this.#writer = new SegmentWriter(sink);
    this.#text = new TextLineScanner(this.#writer);
  }

  /** Takes the next chunk. */
  push(chunk: string): void {
    if (!this.#passes || !this.#pass(chunk)) this.#scan(chunk);
    this.#chunkStart += chunk.length;
  }

  /**
   * The fast path, about 1.5 times as fast: most chunks are inside a line that decides no more, so the whole chunk is a
   * delta. For any other chunk, it takes no character and returns false.
   */
  #pass(chunk: string): boolean {
    let code = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      code = chunk.charCodeAt(at);
      if (code <= carriageReturn && isLineEnd(code)) return false;
    }
    let length = chunk.length;
    if (isHighSurrogate(code)) length -= 1;
    else if (code <= 0x20 && this.#code === undefined) length = findBlankEnd(chunk);
    if (length === 0) return false;
    this.#writer.passChunk(chunk, length);
    return true;
  }

  #scan(chunk: string): void {
    this.#writer.openChunk(chunk);
    let at = 0;
    while (at < chunk.length) {
      if (this.#afterReturn) {
        at = this.#skipLineFeed(chunk, at);
      } else {
        at = this.#code === undefined ? this.#text.scan(chunk, at) : this.#code.scan(chunk, at);
        if (at < chunk.length) at = this.#endLine(chunk, at);
      }
    }
    if (this.#code === undefined) this.#text.endChunk(chunk);
    this.#writer.closeChunk();
    this.#passes = this.#writer.hasStarted && (this.#code ?? this.#text).isDecided();
  }

  /** Ends the text. Call it once, last. */
  end(): void {
    const writer = this.#writer;
    writer.openChunk("");
    if (this.#code === undefined) {
      const fence = this.#text.end(this.#chunkStart);
      if (fence !== undefined) {
        writer.startSegment(parseInfoString(fence.info));
        writer.endSegment(false, []);
      }
    } else {
      writer.endSegment(this.#code.end(), []);
    }
    writer.closeChunk();
  }

  /** Ends the line whose line end is at `at`. Returns the position after that one character. */
  #endLine(chunk: string, at: number): number {
    this.#afterReturn = chunk.charCodeAt(at) === carriageReturn;
    if (this.#code === undefined) {
      const fence = this.#text.endLine(chunk, at, this.#chunkStart + at);
      if (fence !== undefined) this.#startCode(fence, at + 1);
    } else if (this.#code.endLine(at)) {
      this.#startText(at + 1);
    }
    this.#startLine(at + 1);
    return at + 1;
  }

  #skipLineFeed(chunk: string, at: number): number {
    this.#afterReturn = false;
    if (chunk.charCodeAt(at) !== lineFeed) return at;
    // If the CR was not content, the LF is not either.
    if (this.#writer.isEmptyUntil(at)) this.#writer.drop(at + 1);
    this.#startLine(at + 1);
    return at + 1;
  }

  #startLine(from: number): void {
    if (this.#code === undefined) this.#text.startLine(from, this.#chunkStart + from);
    else this.#code.startLine();
  }

  #startCode(fence: OpenFence, from: number): void {
    this.#writer.startSegment(parseInfoString(fence.info));
    this.#writer.drop(from);
    this.#code = new CodeLineScanner(fence, this.#writer);
  }

  #startText(from: number): void {
    this.#writer.endSegment(true, []);
    this.#writer.startSegment({ type: "text" });
    this.#writer.drop(from);
    this.#text.startText();
    this.#code = undefined;
  }
}
