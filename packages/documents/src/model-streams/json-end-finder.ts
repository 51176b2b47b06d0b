/** Finds the end of JSON objects and arrays in text that arrives in pieces. Reads each character once. */
export interface JsonEndFinder {
  /**
   * Reads `text` after `start`, as the continuation of the previous piece. Returns the index after the bracket that
   * closes the outermost object or array, or -1 if `text` ends before it. After an end the finder starts afresh.
   */
  findEnd(text: string, start?: number): number;
}

const quote = 0x22;
const backslash = 0x5c;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/**
 * Creates a finder of brackets and strings, without the whole grammar: the found part may still be invalid JSON. A raw
 * line end inside a string ends the value, since JSON strings contain none. So the next line is readable again.
 */
export function createJsonEndFinder(): JsonEndFinder {
  let depth = 0;
  let inString = false;
  let escaped = false;

  function reset(): void {
    depth = 0;
    inString = false;
    escaped = false;
  }

  /** Returns true if a line end broke off the string. */
  function readStringCode(code: number): boolean {
    if (code === lineFeed || code === carriageReturn) return true;
    if (escaped) escaped = false;
    else if (code === backslash) escaped = true;
    else if (code === quote) inString = false;
    return false;
  }

  /** Returns true if the outermost bracket closed. */
  function readCode(code: number): boolean {
    if (code === quote) inString = depth > 0;
    else if (code === openBrace || code === openBracket) depth += 1;
    else if ((code === closeBrace || code === closeBracket) && depth > 0) {
      depth -= 1;
      return depth === 0;
    }
    return false;
  }

  return {
    findEnd(text, start = 0) {
      for (let index = start; index < text.length; index += 1) {
        const code = text.charCodeAt(index);
        if (inString ? readStringCode(code) : readCode(code)) {
          reset();
          return index + 1;
        }
      }
      return -1;
    },
  };
}
