import { isBlank, trimBlanks } from "./characters.ts";
import { isEndedByBlankLine, isHtmlBlockEnd, parseHtmlBlockStart, type HtmlBlockKind } from "./html-block.ts";
import { LineCursor } from "./line-cursor.ts";
import { isDefinitions, mayBeDefinitions } from "./link-definition.ts";

/** A fence whose closing line has not arrived. */
export interface OpenFence {
  /** The backticks or tildes that open it. */
  readonly marks: string;
  /** Position of the marks in the line. */
  readonly offset: number;
  /** Columns of the blanks before the marks, within the container; at most 3. */
  readonly indent: number;
  /** The raw info string, without blanks at both ends (N19). */
  readonly info: string;
  /** Number of list items and block quotes around it; 0 for a top-level fence (N17). */
  readonly depth: number;
}

/** A block quote among the containers. All other values are content columns of list items, which are at least 2. */
const blockQuote = 0;

/** Codes of the characters that open blocks. */
const hash = 0x23;
const asterisk = 0x2a;
const plus = 0x2b;
const minus = 0x2d;
const zero = 0x30;
const nine = 0x39;
const less = 0x3c;
const equals = 0x3d;
const greater = 0x3e;
const bracket = 0x5b;
const underscore = 0x5f;
const backtick = 0x60;
const tilde = 0x7e;

// Patterns cost much more than a test of the first character, so that test runs before them.
const openingFence = /`{3,}(?=[^`]*$)|~{3,}/y;
const closingFence = /(?:`{3,}|~{3,})[ \t]*$/y;
const heading = /#{1,6}(?:[ \t]|$)/y;
const underline = /(?:=+|-+)[ \t]*$/y;
const listMarker = /(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$)/y;
/** Matches a list marker that may interrupt a paragraph. */
const interruptingMarker = /(?:[-+*]|0{0,8}1[.)])(?=[ \t]+[^ \t])/y;

/**
 * Reads the block structure of CommonMark 0.31 line by line, as far as it decides where fences are (N16, N17):
 * containers, fences, HTML blocks, and open paragraphs. All other blocks end with their line.
 */
export class BlockStructure {
  /** The open fence. Its owner reads the lines of a top-level fence, and ends it with `endFence`. */
  fence: OpenFence | undefined;
  #html: HtmlBlockKind | undefined;
  #paragraph = false;
  /** The open paragraph, while it may consist of link reference definitions only. */
  #definitions: string | undefined;
  readonly #containers: number[] = [];
  /** Indexes of the block quotes in `#containers`. */
  readonly #quotes: number[] = [];
  /** True if the innermost container is a list item that is still empty. */
  #emptyItem = false;
  readonly #cursor = new LineCursor();
  /** Position before which the line has no thematic break, found by the last search. */
  #noBreakBefore = 0;

  /** True if all of the next line matters. If not, it is enough up to its first character of ordinary text. */
  needsWholeLine(): boolean {
    return this.#html !== undefined || this.#definitions !== undefined;
  }

  /** True if a line that starts with `indent` columns of blanks and then a fence would be a top-level fence. */
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
   * Takes a line whose first character is ordinary text, if it continues or starts a paragraph outside of all blocks.
   * Otherwise it takes no line and returns false.
   */
  takePlainLine(): boolean {
    if (this.#containers.length > 0 || this.needsWholeLine()) return false;
    this.#paragraph = true;
    return true;
  }

  /** Takes the next line, without its line end. Returns true for the closing line of the open fence. */
  takeLine(line: string): boolean {
    const cursor = this.#cursor;
    cursor.open(line);
    this.#noBreakBefore = 0;
    const matched = this.#matchContainers();
    const allMatched = matched === this.#containers.length;
    if (allMatched && this.fence !== undefined) {
      cursor.look();
      const startsAlike = line.startsWith(this.fence.marks, cursor.nonblank);
      if (cursor.indent >= 4 || !startsAlike || cursor.match(closingFence) === 0) return false;
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

  /** Returns the number of open containers that this line continues. */
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
        // A blank line continues every list item up to the next quote, but not an empty list item.
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

  /** Opens the blocks that start in the rest of the line, or continues the open paragraph with it. */
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

  /** Takes text that opens no block: it continues the paragraph, even lazily, or is indented code or a new one. */
  #takeText(depth: number): void {
    const cursor = this.#cursor;
    if (!this.#paragraph) {
      this.#close(depth);
      this.#emptyItem = false;
      if (cursor.indent >= 4) return;
      this.#paragraph = true;
      if (cursor.code !== bracket) return;
      const text = cursor.line.slice(cursor.nonblank);
      if (mayBeDefinitions(text)) this.#definitions = text;
    } else if (this.#definitions !== undefined) {
      this.#definitions += `\n${cursor.line.slice(cursor.nonblank)}`;
    }
  }

  /** Opens the container that starts here, if any. */
  #openContainer(depth: number): boolean {
    const cursor = this.#cursor;
    if (cursor.code === greater) {
      this.#close(depth);
      this.#enterQuote();
      this.#quotes.push(this.#containers.length);
      this.#containers.push(blockQuote);
      this.#emptyItem = false;
      return true;
    }
    const isBullet = cursor.code === minus || cursor.code === asterisk || cursor.code === plus;
    if (!isBullet && !(cursor.code >= zero && cursor.code <= nine)) return false;
    // A bullet that no blank follows is mostly emphasis.
    const next = cursor.toCode(cursor.nonblank + 1);
    if (isBullet && next >= 0 && !isBlank(next)) return false;
    // After a paragraph, "-" is its underline, so an empty item cannot start there.
    const interrupts = this.#paragraph && depth === this.#containers.length;
    const length = isBullet && !interrupts ? 1 : cursor.match(interrupts ? interruptingMarker : listMarker);
    if (length === 0 || this.#isThematicBreak()) return false;
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

  /** Takes the line as a block other than a paragraph or indented code, if one starts here. */
  #takeLeaf(depth: number): boolean {
    const cursor = this.#cursor;
    const { code, line, nonblank } = cursor;
    let fence: OpenFence | undefined;
    let html: HtmlBlockKind | undefined;
    if (code === backtick || code === tilde) {
      const length = cursor.match(openingFence);
      if (length === 0) return false;
      const end = nonblank + length;
      const [marks, info] = [line.slice(nonblank, end), trimBlanks(line.slice(end))];
      fence = { marks, offset: nonblank, indent: cursor.indent, info, depth };
    } else if (code === less) {
      const rest = line.slice(nonblank);
      const kind = parseHtmlBlockStart(rest);
      if (kind === 0 || (kind === 7 && this.#paragraph)) return false;
      if (!isHtmlBlockEnd(kind, rest)) html = kind;
    } else if (code === hash) {
      if (cursor.match(heading) === 0) return false;
    } else if (!this.#isUnderline(depth) && !this.#isThematicBreak()) {
      return false;
    }
    this.#close(depth);
    this.#emptyItem = false;
    this.fence = fence;
    this.#html = html;
    return true;
  }

  /** True if the rest of the line is the underline of the open paragraph. */
  #isUnderline(depth: number): boolean {
    const { code } = this.#cursor;
    if (!this.#paragraph || depth < this.#containers.length || (code !== equals && code !== minus)) return false;
    if (this.#cursor.match(underline) === 0) return false;
    return this.#definitions === undefined || !isDefinitions(this.#definitions);
  }

  #isThematicBreak(): boolean {
    const { line, nonblank, code: mark } = this.#cursor;
    if (mark !== minus && mark !== asterisk && mark !== underscore) return false;
    if (nonblank < this.#noBreakBefore) return false;
    let count = 0;
    for (let at = nonblank; at < line.length; at += 1) {
      const code = this.#cursor.toCode(at);
      if (code === mark) {
        count += 1;
      } else if (!isBlank(code)) {
        this.#noBreakBefore = at;
        return false;
      }
    }
    return count >= 3;
  }

  /** Moves past a quote's mark and the blank that may follow it. */
  #enterQuote(): void {
    this.#cursor.advanceBehind(1);
    this.#cursor.advanceColumns(1);
  }

  /** Closes the open leaf, the container at `depth` and all inner ones. */
  #close(depth: number): void {
    this.fence = undefined;
    this.#html = undefined;
    this.#paragraph = false;
    this.#definitions = undefined;
    if (depth === this.#containers.length) return;
    // Setting the length is a slow runtime call, and would happen for every list item.
    while (this.#containers.length > depth) this.#containers.pop();
    this.#emptyItem = false;
    while ((this.#quotes.at(-1) ?? -1) >= depth) this.#quotes.pop();
  }
}
