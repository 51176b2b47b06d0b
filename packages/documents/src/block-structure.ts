import { isBlank, skipBlanks, trimBlanks } from "./blank.ts";
import { type HtmlBlockKind, isEndedByBlankLine, isHtmlBlockEnd, parseHtmlBlockStart } from "./html-block.ts";
import { LineCursor } from "./line-cursor.ts";
import { createLinkDefinitionScanner, type LinkDefinitionScanner } from "./link-definition.ts";

/** A fence whose closing line has not come. */
export interface OpenFence {
  /** The character code of its backticks or tildes. */
  readonly marker: number;
  /** How many of them open it. */
  readonly length: number;
  /** Where they start in their line. */
  readonly offset: number;
  /** Columns of the blanks before them, within the container; at most 3. */
  readonly indent: number;
  /** Raw, without blanks at both ends (N19). */
  readonly info: string;
  /** How many list items and block quotes it stands in; 0 for a top-level fence (N17). */
  readonly depth: number;
}

/** A block quote among the containers; all other values are content columns of list items, which are at least 2. */
const blockQuote = 0;

const hash = 0x23;
const asterisk = 0x2a;
const plus = 0x2b;
const minus = 0x2d;
const dot = 0x2e;
const parenthesis = 0x29;
const zero = 0x30;
const nine = 0x39;
const less = 0x3c;
const equals = 0x3d;
const greater = 0x3e;
const bracket = 0x5b;
const underscore = 0x5f;
const backtick = 0x60;
const tilde = 0x7e;

/**
 * The block structure of CommonMark 0.31, taken line by line, as far as it decides where fences are (N16, N17):
 * containers, fences, HTML blocks, and whether a paragraph is open. All other blocks end with their line.
 */
export class BlockStructure {
  /** The open fence; a top-level one takes no lines here, the owner ends it with `endFence`. */
  fence: OpenFence | undefined;
  #html: HtmlBlockKind | undefined;
  #paragraph = false;
  /** Set while the open paragraph may be nothing but link reference definitions. */
  #definitions: LinkDefinitionScanner | undefined;
  readonly #containers: number[] = [];
  /** The places of the block quotes among the containers. */
  readonly #quotes: number[] = [];
  /** The innermost container is a list item that holds nothing yet. */
  #emptyItem = false;
  readonly #cursor = new LineCursor();
  /** Where the last search for a thematic break in this line failed: none starts before. */
  #noBreakBefore = 0;

  /**
   * Whether the next line matters up to its end, whatever it starts with. If not, a line's beginning up to and
   * including the first character of ordinary text stands for the line.
   */
  needsWholeLine(): boolean {
    return this.#html !== undefined || this.#definitions !== undefined;
  }

  /** Whether a line that starts with `indent` columns of blanks and then a fence would be a top-level fence. */
  canOpenFence(indent: number): boolean {
    const outermost = this.#containers[0];
    if (outermost === undefined) return indent < 4 && this.#html === undefined;
    return indent < 4 && (outermost === blockQuote || indent < outermost);
  }

  /** Ends the open fence. */
  endFence(): void {
    this.fence = undefined;
  }

  /**
   * The quick way for a line whose first character is ordinary text: outside of all blocks it goes on with the
   * paragraph, or starts one. False where it may do something else; then it has not been taken.
   */
  takePlainLine(): boolean {
    if (this.#containers.length > 0 || this.needsWholeLine()) return false;
    this.#paragraph = true;
    return true;
  }

  /** Takes the next line, without its line end. Gives whether it is the closing line of the open fence. */
  takeLine(line: string): boolean {
    const cursor = this.#cursor;
    cursor.open(line);
    this.#noBreakBefore = 0;
    const matched = this.#matchContainers();
    const allMatched = matched === this.#containers.length;
    if (allMatched && this.fence !== undefined) {
      cursor.look();
      if (!isClosingFence(cursor, this.fence)) return false;
      this.fence = undefined;
      return true;
    }
    if (allMatched && this.#html !== undefined) {
      cursor.look();
      const rest = line.slice(cursor.offset);
      if (isEndedByBlankLine(this.#html) ? cursor.isAtBlankRest() : isHtmlBlockEnd(this.#html, rest)) {
        this.#html = undefined;
      }
    } else {
      this.#openBlocks(matched);
    }
    return false;
  }

  /** How many of the open containers this line continues. */
  #matchContainers(): number {
    const cursor = this.#cursor;
    const count = this.#containers.length;
    let quotes = 0;
    for (let depth = 0; depth < count; depth += 1) {
      const container = this.#containers[depth] ?? blockQuote;
      cursor.look();
      if (container === blockQuote) {
        if (cursor.indent >= 4 || cursor.code !== greater) return depth;
        this.#enterQuote();
        quotes += 1;
      } else if (cursor.isAtBlankRest()) {
        // A blank line continues every list item up to the next quote, but not one that has been empty so far.
        const end = this.#quotes[quotes] ?? count;
        return end === count && this.#emptyItem ? count - 1 : end;
      } else if (cursor.indent >= container) {
        cursor.advanceColumns(container);
      } else {
        return depth;
      }
    }
    return count;
  }

  /** Opens the blocks that start in the rest of the line, or lets its text go on with the open paragraph. */
  #openBlocks(matched: number): void {
    const cursor = this.#cursor;
    let depth = matched;
    for (;;) {
      cursor.look();
      if (cursor.isAtBlankRest()) return this.#close(depth);
      if (cursor.indent >= 4) break;
      const opened = this.#openContainer(depth);
      if (!opened) {
        if (this.#takeLeaf(depth)) return;
        break;
      }
      depth = this.#containers.length;
    }
    this.#takeText(depth);
  }

  /** Text that opens no block: goes on with the paragraph, lazily too, or is indented code, or a new paragraph. */
  #takeText(depth: number): void {
    const cursor = this.#cursor;
    if (!this.#paragraph) {
      this.#close(depth);
      this.#emptyItem = false;
      if (cursor.indent >= 4) return;
      this.#paragraph = true;
      if (cursor.code === bracket) this.#definitions = createLinkDefinitionScanner();
    }
    if (this.#definitions?.takeLine(cursor.line, cursor.nonblank) === false) this.#definitions = undefined;
  }

  /** Opens the container that starts here, if one does. */
  #openContainer(depth: number): boolean {
    const cursor = this.#cursor;
    const { code } = cursor;
    if (code === greater) {
      this.#close(depth);
      this.#enterQuote();
      this.#quotes.push(this.#containers.length);
      this.#containers.push(blockQuote);
      this.#emptyItem = false;
      return true;
    }
    // Behind a paragraph "-" is its underline; there no empty item can start.
    const length = toListMarkerLength(cursor, this.#paragraph && depth === this.#containers.length);
    if (length === 0) return false;
    if ((code === minus || code === asterisk) && this.#isThematicBreak(code)) return false;
    const indent = cursor.indent;
    this.#close(depth);
    cursor.advanceBehind(length);
    cursor.look();
    const padding = cursor.indent > 4 || cursor.isAtBlankRest() ? 1 : cursor.indent;
    cursor.advanceColumns(padding);
    this.#containers.push(indent + length + padding);
    this.#emptyItem = true;
    return true;
  }

  /** Takes the line as a block that is no paragraph and no indented code, if one starts here. */
  #takeLeaf(depth: number): boolean {
    const cursor = this.#cursor;
    const { line, nonblank, code } = cursor;
    let fence: OpenFence | undefined;
    let html: HtmlBlockKind | undefined;
    if (code === backtick || code === tilde) {
      fence = parseFence(cursor, depth);
      if (fence === undefined) return false;
    } else if (code === less) {
      const rest = line.slice(nonblank);
      const kind = parseHtmlBlockStart(rest);
      if (kind === 0 || (kind === 7 && this.#paragraph)) return false;
      if (!isHtmlBlockEnd(kind, rest)) html = kind;
    } else if (!this.#isLineBlock(code, depth)) {
      return false;
    }
    this.#close(depth);
    this.#emptyItem = false;
    this.fence = fence;
    this.#html = html;
    return true;
  }

  /** Is the rest of the line a heading, the underline of the open paragraph, or a thematic break? */
  #isLineBlock(code: number, depth: number): boolean {
    switch (code) {
      case hash:
        return isHeading(this.#cursor);
      case equals:
      case minus:
        if (this.#paragraph && depth === this.#containers.length && this.#isUnderline(code)) return true;
        return code === minus && this.#isThematicBreak(code);
      case asterisk:
      case underscore:
        return this.#isThematicBreak(code);
      default:
        return false;
    }
  }

  #isUnderline(code: number): boolean {
    if (this.#definitions?.isComplete() === true) return false;
    const { line, nonblank } = this.#cursor;
    const end = skipCode(line, nonblank, code);
    return skipBlanks(line, end) === line.length;
  }

  #isThematicBreak(marker: number): boolean {
    const { line, nonblank } = this.#cursor;
    if (nonblank < this.#noBreakBefore) return false;
    let count = 0;
    for (let at = nonblank; at < line.length; at += 1) {
      const code = line.charCodeAt(at);
      if (code === marker) {
        count += 1;
      } else if (!isBlank(code)) {
        this.#noBreakBefore = at;
        return false;
      }
    }
    return count >= 3;
  }

  /** Goes behind the mark of a quote and the blank that may follow it. */
  #enterQuote(): void {
    this.#cursor.advanceBehind(1);
    this.#cursor.advanceColumns(1);
  }

  /** Closes the open leaf and the containers from `depth` on. */
  #close(depth: number): void {
    this.fence = undefined;
    this.#html = undefined;
    this.#paragraph = false;
    this.#definitions = undefined;
    if (depth === this.#containers.length) return;
    this.#containers.length = depth;
    this.#emptyItem = false;
    while ((this.#quotes.at(-1) ?? -1) >= depth) this.#quotes.pop();
  }
}

/** Length of the list marker that starts here; 0 if none, or none that may interrupt a paragraph where it would. */
function toListMarkerLength(cursor: LineCursor, interrupts: boolean): number {
  const { line, nonblank, code: first } = cursor;
  let end = nonblank;
  if (first === minus || first === plus || first === asterisk) {
    end += 1;
  } else {
    if (!(first >= zero && first <= nine)) return 0;
    while (end < nonblank + 9 && line.charCodeAt(end) >= zero && line.charCodeAt(end) <= nine) end += 1;
    const code = line.charCodeAt(end);
    if (code !== dot && code !== parenthesis) return 0;
    if (interrupts && Number(line.slice(nonblank, end)) !== 1) return 0;
    end += 1;
  }
  if (end < line.length && !isBlank(line.charCodeAt(end))) return 0;
  if (interrupts && skipBlanks(line, end) === line.length) return 0;
  return end - nonblank;
}

function parseFence(cursor: LineCursor, depth: number): OpenFence | undefined {
  const { line, nonblank, indent, code: marker } = cursor;
  const end = skipCode(line, nonblank, marker);
  if (end - nonblank < 3) return undefined;
  const info = trimBlanks(line.slice(end));
  if (marker === backtick && info.includes("`")) return undefined;
  return { marker, length: end - nonblank, offset: nonblank, indent, info, depth };
}

function isClosingFence(cursor: LineCursor, fence: OpenFence): boolean {
  const { line, nonblank } = cursor;
  if (cursor.indent >= 4 || cursor.code !== fence.marker) return false;
  const end = skipCode(line, nonblank, fence.marker);
  return end - nonblank >= fence.length && skipBlanks(line, end) === line.length;
}

function isHeading(cursor: LineCursor): boolean {
  const { line, nonblank } = cursor;
  const end = skipCode(line, nonblank, hash);
  return end - nonblank <= 6 && (end === line.length || isBlank(line.charCodeAt(end)));
}

/** The place behind the run of this character code. */
function skipCode(text: string, from: number, code: number): number {
  let at = from;
  while (text.charCodeAt(at) === code) at += 1;
  return at;
}
