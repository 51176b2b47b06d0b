/** Kinds of characters, by character code. */

export const lineFeed = 0x0a;
export const carriageReturn = 0x0d;

/** True if the character ends a line. CR, LF and CRLF do, nothing else does (N24). */
export function isLineEnd(code: number): boolean {
  return code === lineFeed || code === carriageReturn;
}

/** True if the character is a space or a tab. CommonMark knows no other blanks. */
export function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** The column after a blank at `column`; a tab goes to the next multiple of four. */
export function toNextColumn(code: number, column: number): number {
  return code === 0x09 ? column + 4 - (column % 4) : column + 1;
}

/** The place where the blanks at the end of the text start. */
export function findBlankEnd(text: string): number {
  let end = text.length;
  while (end > 0 && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return end;
}

/** The text without the blanks at both ends. */
export function trimBlanks(text: string): string {
  let start = 0;
  while (start < text.length && isBlank(text.charCodeAt(start))) start += 1;
  return text.slice(start, findBlankEnd(text));
}

/** U+FFFD for each half of a surrogate pair that is alone. */
export function replaceHalves(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\uFFFD");
}

/** True if this is the first half of a surrogate pair, which alone is not a character and has no UTF-8. */
export function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
