/** Texts with some differences removed; each unit knows its position in the original. */

/** Differences that folding removes, in addition to line ends and blanks before them. */
export interface FoldOptions {
  /** Blanks at the start of lines. */
  readonly indentation?: boolean;
  /** Quotes, dashes, blanks and dots as typesetters write them; letters with marks in two pieces. */
  readonly typography?: boolean;
}

/** The lowest code of a mark that combines with the letter before it. */
const FIRST_MARK = 0x300;

export interface FoldedText {
  readonly text: string;
  /** The start of each unit of `text` in the original; one more at the end. */
  readonly offsets: Uint32Array;
}

/** Characters of a keyboard by the typographic characters that they replace, which have one unit each. */
const plainByTypographic: ReadonlyMap<string, string> = new Map([
  ...toPairs("\u2018\u2019\u201a\u201b\u2032\u02bc", "'"),
  ...toPairs("\u201c\u201d\u201e\u201f\u2033", '"'),
  ...toPairs("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
  ...toPairs("\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "),
  ...toPairs("\u2026", "..."),
]);

function toPairs(characters: string, plain: string): [string, string][] {
  return [...characters].map((character) => [character, plain]);
}

/** Folds a text: "\r\n" becomes "\n". Removes blanks before line ends and the end, and the differences in `options`. */
export function foldText(text: string, options: FoldOptions = {}): FoldedText {
  const folding = new Folding(text, options);
  for (let start = 0; ;) {
    const lineFeed = text.indexOf("\n", start);
    const end = lineFeed === -1 ? text.length : lineFeed;
    const contentEnd = lineFeed > start && text[lineFeed - 1] === "\r" ? lineFeed - 1 : end;
    folding.addLine(start, contentEnd);
    if (lineFeed === -1) return folding.end();
    folding.addUnit("\n", contentEnd);
    start = lineFeed + 1;
  }
}

class Folding {
  readonly #original: string;
  readonly #options: FoldOptions;
  readonly #parts: string[] = [];
  #offsets: Uint32Array;
  #length = 0;

  constructor(original: string, options: FoldOptions) {
    this.#original = original;
    this.#options = options;
    this.#offsets = new Uint32Array(original.length + 1);
  }

  /** Adds a line without its line end. */
  addLine(start: number, end: number): void {
    let from = start;
    let to = end;
    while (to > from && this.#isBlank(to - 1)) to -= 1;
    if (this.#options.indentation) while (from < to && this.#isBlank(from)) from += 1;
    if (this.#options.typography) this.#addTypography(from, to);
    else this.#addRun(from, to);
  }

  addUnit(unit: string, offset: number): void {
    this.#reserve(unit.length);
    this.#parts.push(unit);
    this.#offsets.fill(offset, this.#length, this.#length + unit.length);
    this.#length += unit.length;
  }

  end(): FoldedText {
    this.#reserve(1);
    this.#offsets[this.#length] = this.#original.length;
    return { text: this.#parts.join(""), offsets: this.#offsets.subarray(0, this.#length + 1) };
  }

  #isBlank(index: number): boolean {
    const unit = this.#original[index]!;
    if (unit === " " || unit === "\t") return true;
    return this.#options.typography === true && plainByTypographic.get(unit) === " ";
  }

  #addTypography(from: number, to: number): void {
    let start = from;
    for (let index = from; index < to; index += 1) {
      const clusterEnd = this.#findClusterEnd(index, to);
      if (clusterEnd === index + 1 && this.#original.charCodeAt(index) < 0x80) continue;
      const cluster = this.#original.slice(index, clusterEnd);
      const plain = plainByTypographic.get(cluster) ?? (cluster.length > 1 ? cluster.normalize("NFC") : undefined);
      if (plain === undefined) continue;
      this.#addRun(start, index);
      this.addUnit(plain, index);
      start = clusterEnd;
      index = clusterEnd - 1;
    }
    this.#addRun(start, to);
  }

  /** Finds the end of a letter with the marks that follow it, which may together be one letter. */
  #findClusterEnd(index: number, to: number): number {
    let end = index + 1;
    while (end < to && this.#original.charCodeAt(end) >= FIRST_MARK && /\p{M}/u.test(this.#original[end]!)) end += 1;
    return end;
  }

  #addRun(from: number, to: number): void {
    if (from === to) return;
    this.#reserve(to - from);
    this.#parts.push(this.#original.slice(from, to));
    for (let index = from; index < to; index += 1) this.#offsets[this.#length + index - from] = index;
    this.#length += to - from;
  }

  /** Makes room: an ellipsis becomes three units, so a folded text may be longer. */
  #reserve(units: number): void {
    if (this.#length + units < this.#offsets.length) return;
    const larger = new Uint32Array((this.#length + units) * 2);
    larger.set(this.#offsets);
    this.#offsets = larger;
  }
}
