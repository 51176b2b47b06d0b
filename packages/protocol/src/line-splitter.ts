/** Splits text into lines, however it is chunked. */

/** Splits in linear time: text joined piece by piece is copied once, when it's read. */
export class LineSplitter {
  readonly #lineEnds: "\n" | "\r\n";
  readonly #maxLength: number;
  readonly #onLine: (line: string, cut: boolean) => void;
  #line = "";
  #cut = false;
  #afterReturn = false;

  /**
   * `lineEnds` are the characters that end a line: LF, or CR, LF and CRLF as in event streams. If a line has more than
   * `maxLength` UTF-16 units, `onLine` gets its start, and `cut` is true.
   */
  constructor(lineEnds: "\n" | "\r\n", maxLength: number, onLine: (line: string, cut: boolean) => void) {
    this.#lineEnds = lineEnds;
    this.#maxLength = maxLength;
    this.#onLine = onLine;
  }

  push(chunk: string): void {
    if (chunk === "") return;
    const text = this.#afterReturn && chunk.startsWith("\n") ? chunk.slice(1) : chunk;
    const withReturns = this.#lineEnds !== "\n" && chunk.includes("\r");
    this.#afterReturn = withReturns && chunk.endsWith("\r");
    for (const [index, piece] of text.split(withReturns ? /\r\n?|\n/ : "\n").entries()) {
      if (index > 0) this.#endLine();
      const room = this.#maxLength - this.#line.length;
      if (piece.length > room) this.#cut = true;
      this.#line += piece.slice(0, room);
    }
  }

  /** Ends the unfinished last line, if there is one. */
  end(): void {
    if (this.#line !== "") this.#endLine();
  }

  #endLine(): void {
    const line = this.#line;
    const cut = this.#cut;
    this.#line = "";
    this.#cut = false;
    this.#onLine(line, cut);
  }
}
