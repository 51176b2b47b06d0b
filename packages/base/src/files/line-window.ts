/** Selects some lines of a text that arrives in pieces, and counts the rest. */
import { toPrefix } from "./text-format.ts";

export interface LineRange {
  /** Number of the first line, from 1. */
  readonly startLine: number;
  /** Column at which the first line starts, from 1. Default: 1. UTF-16 units. */
  readonly startColumn?: number | undefined;
  readonly maxLines: number;
  /** Most bytes in UTF-8. */
  readonly maxBytes: number;
}

/** The contents of a window at the end of the text. */
export interface LineSelection {
  /** The lines, each with its line end. */
  readonly text: string;
  readonly startLine: number;
  readonly endLine: number;
  /** Number of lines with the empty tail: "a\nb\n" has 3, "" has 1 (C9). */
  readonly totalLines: number;
  /** UTF-16 units. */
  readonly totalChars: number;
  /** True if the byte limit ended it. */
  readonly isFull: boolean;
  /** True if its only line is incomplete. */
  readonly isLineCut: boolean;
}

export class LineWindow {
  readonly #range: LineRange;
  #line = 1;
  /** Characters of the first line to skip. */
  #skip: number;
  #chars = 0;
  #text = "";
  #bytes = 0;
  /** Position of the current line in the selected text. */
  #lineStart = 0;
  #endLine = 0;
  #isFull = false;
  #isLineCut = false;

  constructor(range: LineRange) {
    this.#range = range;
    this.#skip = (range.startColumn ?? 1) - 1;
  }

  push(piece: string): void {
    this.#chars += piece.length;
    let start = 0;
    for (let end = piece.indexOf("\n"); end !== -1; end = piece.indexOf("\n", start)) {
      if (this.#isWanted()) this.#keep(piece.slice(start, end + 1));
      start = end + 1;
      this.#line += 1;
      this.#lineStart = this.#text.length;
    }
    if (start < piece.length && this.#isWanted()) this.#keep(piece.slice(start));
  }

  end(): LineSelection {
    const { startLine, maxLines } = this.#range;
    // The empty tail is a line as well, and has been read.
    const last = Math.min(this.#line, startLine + maxLines - 1);
    return {
      text: this.#text,
      startLine,
      endLine: this.#isFull ? this.#endLine : last,
      totalLines: this.#line,
      totalChars: this.#chars,
      isFull: this.#isFull,
      isLineCut: this.#isLineCut,
    };
  }

  #isWanted(): boolean {
    const { startLine, maxLines } = this.#range;
    return !this.#isFull && this.#line >= startLine && this.#line < startLine + maxLines;
  }

  #keep(given: string): void {
    const end = given.length - (given.endsWith("\n") ? 1 : 0);
    const skipped = this.#line === this.#range.startLine ? Math.min(this.#skip, end) : 0;
    this.#skip -= skipped;
    const part = skipped === 0 ? given : given.slice(skipped).toWellFormed();
    const bytes = Buffer.byteLength(part);
    if (this.#bytes + bytes <= this.#range.maxBytes) {
      this.#text += part;
      this.#bytes += bytes;
      return;
    }
    this.#isFull = true;
    if (this.#lineStart > 0) {
      this.#text = this.#text.slice(0, this.#lineStart);
      this.#endLine = this.#line - 1;
      return;
    }
    this.#text += toPrefix(part, this.#range.maxBytes - this.#bytes);
    this.#endLine = this.#line;
    this.#isLineCut = true;
  }
}
