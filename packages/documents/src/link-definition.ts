import { isBlank, skipBlanks } from "./blank.ts";

/**
 * Reads a paragraph line by line and tells whether it is nothing but link reference definitions.
 * Such a paragraph can have no setext underline (CommonMark 0.31, 4.3 and 4.7), the only place where definitions
 * matter to the block structure. The state is small, whatever the length of the paragraph.
 */
export interface LinkDefinitionScanner {
  /** Takes the line from its first non-blank character on. False: the paragraph holds other text. */
  takeLine(line: string, from: number): boolean;
  /** Whether the lines so far are complete definitions. */
  isComplete(): boolean;
}

const longestLabel = 999;
const deepestParentheses = 32;

const quote = 0x22;
const apostrophe = 0x27;
const parenthesisOpen = 0x28;
const parenthesisClose = 0x29;
const colon = 0x3a;
const less = 0x3c;
const greater = 0x3e;
const bracketOpen = 0x5b;
const backslash = 0x5c;
const bracketClose = 0x5d;

/** A scanner for one paragraph. */
export function createLinkDefinitionScanner(): LinkDefinitionScanner {
  return new ParagraphScanner();
}

/** What the next character belongs to; behind a destination a title may still come, on the next line. */
type State = "start" | "label" | "destination" | "afterDestination" | "title";

class ParagraphScanner implements LinkDefinitionScanner {
  #state: State = "start";
  #labelLength = 0;
  #labelHasText = false;
  #titleEnd = 0;

  takeLine(line: string, from: number): boolean {
    let at = from;
    if (this.#isIn("afterDestination")) {
      this.#state = "start";
      if (this.#startTitle(line.charCodeAt(at))) at += 1;
    }
    if (this.#isIn("start")) {
      if (line.charCodeAt(at) !== bracketOpen) return false;
      this.#state = "label";
      this.#labelLength = 0;
      this.#labelHasText = false;
      at += 1;
    }
    if (this.#isIn("label")) at = this.#scanLabel(line, at);
    if (at >= 0 && this.#isIn("destination")) at = this.#scanDestination(line, skipBlanks(line, at));
    if (at >= 0 && this.#isIn("title")) at = this.#scanTitle(line, at);
    return at >= 0;
  }

  isComplete(): boolean {
    return this.#isIn("start") || this.#isIn("afterDestination");
  }

  #isIn(state: State): boolean {
    return this.#state === state;
  }

  /** The place behind the colon, or the line's end if the label goes on; -1 if this is no label. */
  #scanLabel(line: string, from: number): number {
    for (let at = from; at < line.length; at += 1) {
      const code = line.charCodeAt(at);
      if (code === bracketOpen) return -1;
      if (code === bracketClose) {
        if (!this.#labelHasText || line.charCodeAt(at + 1) !== colon) return -1;
        this.#state = "destination";
        return at + 2;
      }
      if (!isBlank(code)) this.#labelHasText = true;
      if (code === backslash && isEscape(line, at)) {
        this.#labelLength += 1;
        at += 1;
      }
      this.#labelLength += 1;
      if (this.#labelLength > longestLabel) return -1;
    }
    this.#labelLength += 1;
    return line.length;
  }

  /** The place behind the opening of a title, or the line's end if there is none yet; -1 if this is no definition. */
  #scanDestination(line: string, from: number): number {
    if (from === line.length) return from;
    const end = line.charCodeAt(from) === less ? scanAngled(line, from + 1) : scanBare(line, from);
    if (end < 0) return -1;
    this.#state = "afterDestination";
    const next = skipBlanks(line, end);
    if (next === line.length) return next;
    return next > end && this.#startTitle(line.charCodeAt(next)) ? next + 1 : -1;
  }

  #startTitle(code: number): boolean {
    if (code !== quote && code !== apostrophe && code !== parenthesisOpen) return false;
    this.#titleEnd = code === parenthesisOpen ? parenthesisClose : code;
    this.#state = "title";
    return true;
  }

  /** The line's end; -1 if this is no title. */
  #scanTitle(line: string, from: number): number {
    for (let at = from; at < line.length; at += 1) {
      const code = line.charCodeAt(at);
      if (code === this.#titleEnd) {
        this.#state = "start";
        return skipBlanks(line, at + 1) === line.length ? line.length : -1;
      }
      if (code === parenthesisOpen && this.#titleEnd === parenthesisClose) return -1;
      if (code === backslash) at += 1;
    }
    return line.length;
  }
}

/** The place behind a destination in angle brackets, or -1. */
function scanAngled(line: string, from: number): number {
  for (let at = from; at < line.length; at += 1) {
    const code = line.charCodeAt(at);
    if (code === greater) return at + 1;
    if (code === less) return -1;
    if (code === backslash) at += 1;
  }
  return -1;
}

/** The place behind a destination without brackets, or -1. */
function scanBare(line: string, from: number): number {
  let depth = 0;
  let at = from;
  for (; at < line.length; at += 1) {
    const code = line.charCodeAt(at);
    if (isBlank(code)) break;
    if (code < 0x20 || code === 0x7f) return -1;
    if (code === parenthesisOpen) depth += 1;
    if (code === parenthesisClose) depth -= 1;
    if (depth < 0 || depth > deepestParentheses) return -1;
    if (code === backslash && isEscape(line, at)) at += 1;
  }
  return depth === 0 && at > from ? at : -1;
}

const punctuation = /[!-/:-@[-`{-~]/;

/** Is there ASCII punctuation behind the backslash at this place? Only that can be escaped. */
function isEscape(line: string, at: number): boolean {
  return punctuation.test(line.charAt(at + 1));
}
