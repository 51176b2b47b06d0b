/** Cuts text into lines, whatever the chunks. */

const LINE_FEED = 10;

export interface LineSplitterOptions {
  /** Whether CR and CRLF end a line too, as in event streams; else only LF does. */
  readonly carriageReturns: boolean;
  /** UTF-16 units; a longer line is given as its first `maxLength` units with `cut`. */
  readonly maxLength: number;
  readonly onLine: (line: string, cut: boolean) => void;
}

export interface LineSplitter {
  push(chunk: string): void;
  /** Gives up the unfinished last line; undefined if there is none. */
  end(): { readonly line: string; readonly cut: boolean } | undefined;
}

/** A line that comes in many chunks is joined once, at its end: the cost is linear. */
export function createLineSplitter(options: LineSplitterOptions): LineSplitter {
  return new Splitter(options);
}

class Splitter implements LineSplitter {
  readonly #options: LineSplitterOptions;
  #pieces: string[] = [];
  #length = 0;
  #afterCarriageReturn = false;

  constructor(options: LineSplitterOptions) {
    this.#options = options;
  }

  push(chunk: string): void {
    if (chunk === "") return;
    const { carriageReturns } = this.#options;
    let start = this.#afterCarriageReturn && chunk.charCodeAt(0) === LINE_FEED ? 1 : 0;
    this.#afterCarriageReturn = false;
    let lineFeed = chunk.indexOf("\n", start);
    let carriageReturn = carriageReturns ? chunk.indexOf("\r", start) : -1;
    while (lineFeed >= 0 || carriageReturn >= 0) {
      const end = carriageReturn < 0 || (lineFeed >= 0 && lineFeed < carriageReturn) ? lineFeed : carriageReturn;
      this.#endLine(chunk.slice(start, end));
      start = end + 1;
      if (end === carriageReturn) {
        if (start === chunk.length) this.#afterCarriageReturn = true;
        else if (chunk.charCodeAt(start) === LINE_FEED) start += 1;
        carriageReturn = chunk.indexOf("\r", start);
      }
      if (lineFeed >= 0 && lineFeed < start) lineFeed = chunk.indexOf("\n", start);
    }
    if (start < chunk.length) this.#keep(chunk.slice(start));
  }

  end(): { readonly line: string; readonly cut: boolean } | undefined {
    return this.#length === 0 ? undefined : this.#take();
  }

  #endLine(rest: string): void {
    this.#keep(rest);
    const { line, cut } = this.#take();
    this.#options.onLine(line, cut);
  }

  #keep(piece: string): void {
    const room = this.#options.maxLength - this.#length;
    this.#length += piece.length;
    if (room > 0 && piece !== "") this.#pieces.push(room < piece.length ? piece.slice(0, room) : piece);
  }

  #take(): { line: string; cut: boolean } {
    const line = this.#pieces.join("");
    const cut = this.#length > this.#options.maxLength;
    this.#pieces = [];
    this.#length = 0;
    return { line, cut };
  }
}
