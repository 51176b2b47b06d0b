/** Cuts text into lines, whatever the chunks. */

export interface LineSplitterOptions {
  /** Whether CR and CRLF end a line too, as in event streams; else only LF does. */
  readonly carriageReturns: boolean;
  /** UTF-16 units; a longer line is given as its first `maxLength` units with `cut`. */
  readonly maxLength: number;
  readonly onLine: (line: string, cut: boolean) => void;
}

export interface LineSplitter {
  push(chunk: string): void;
  /** Gives out the unfinished last line, if there is one. */
  end(): void;
}

/** The cost is linear: text that is put together piece by piece is copied once, when it is read. */
export function createLineSplitter(options: LineSplitterOptions): LineSplitter {
  return new Splitter(options);
}

class Splitter implements LineSplitter {
  readonly #options: LineSplitterOptions;
  #line = "";
  #cut = false;
  #afterReturn = false;

  constructor(options: LineSplitterOptions) {
    this.#options = options;
  }

  push(chunk: string): void {
    if (chunk === "") return;
    const text = this.#afterReturn && chunk.startsWith("\n") ? chunk.slice(1) : chunk;
    const withReturns = this.#options.carriageReturns && chunk.includes("\r");
    this.#afterReturn = withReturns && chunk.endsWith("\r");
    for (const [index, piece] of text.split(withReturns ? /\r\n?|\n/ : "\n").entries()) {
      if (index > 0) this.#endLine();
      const room = this.#options.maxLength - this.#line.length;
      if (piece.length > room) this.#cut = true;
      this.#line += piece.slice(0, room);
    }
  }

  end(): void {
    if (this.#line !== "") this.#endLine();
  }

  #endLine(): void {
    const line = this.#line;
    const cut = this.#cut;
    this.#line = "";
    this.#cut = false;
    this.#options.onLine(line, cut);
  }
}
