import { isBlank, toNextColumn } from "./characters.ts";

/**
 * A position in a line, by character and by column. A tab reaches to the next multiple of four columns. The cursor may
 * take part of a tab: then `column` is inside it and `offset` before it (CommonMark 0.31, 2.2).
 */
export class LineCursor {
  line = "";
  offset = 0;
  column = 0;
  /** Offset of the next non-blank character; valid after `look`, as the next two fields are. */
  nonblank = -1;
  /** Code of that character; -1 at the end of the line. */
  code = -1;
  /** Columns of the blanks before that character. */
  indent = 0;
  #nonblankColumn = 0;

  /** Moves to the start of a line without its line end. */
  open(line: string): void {
    this.line = line;
    this.offset = 0;
    this.column = 0;
    this.nonblank = -1;
  }

  /** Finds the next non-blank character. Repeated calls never read a blank twice. */
  look(): void {
    if (this.nonblank < this.offset) {
      let at = this.offset;
      let column = this.column;
      let code = this.toCode(at);
      while (isBlank(code)) {
        column = toNextColumn(code, column);
        at += 1;
        code = this.toCode(at);
      }
      this.nonblank = at;
      this.code = code;
      this.#nonblankColumn = column;
    }
    this.indent = this.#nonblankColumn - this.column;
  }

  /** True if only blanks remain. Call `look` before. */
  isAtBlankRest(): boolean {
    return this.nonblank === this.line.length;
  }

  /** Returns the number of characters that a sticky pattern matches at the non-blank part. Call `look` before. */
  match(pattern: RegExp): number {
    pattern.lastIndex = this.nonblank;
    return pattern.test(this.line) ? pattern.lastIndex - this.nonblank : 0;
  }

  /** Moves `length` non-blank characters past the start of the non-blank part. Call `look` before. */
  advanceBehind(length: number): void {
    this.offset = this.nonblank + length;
    this.column = this.#nonblankColumn + length;
  }

  /** Takes up to this many columns of blanks. */
  advanceColumns(columns: number): void {
    const end = this.column + columns;
    while (this.column < end) {
      const code = this.toCode(this.offset);
      if (!isBlank(code)) return;
      const next = toNextColumn(code, this.column);
      this.column = Math.min(next, end);
      if (next <= end) this.offset += 1;
    }
  }

  /** Returns the code of the character at `at`; -1 after the end of the line. */
  toCode(at: number): number {
    return at < this.line.length ? this.line.charCodeAt(at) : -1;
  }
}
