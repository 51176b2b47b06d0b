/** Kinds of characters, by character code. */

export const lineFeed = 0x0a;
export const carriageReturn = 0x0d;

/** True for CR or LF, the only characters that end a line (N24). */
export function isLineEnd(code: number): boolean {
  return code === lineFeed || code === carriageReturn;
}

/** True for a space or a tab, the only blanks of CommonMark. */
export function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** Returns the column after a blank at `column`; a tab moves to the next multiple of four. */
export function toNextColumn(code: number, column: number): number {
  return code === 0x09 ? column + 4 - (column % 4) : column + 1;
}

/** Returns the start of the blanks at the end of the text. */
export function findBlankEnd(text: string): number {
  let end = text.length;
  while (end > 0 && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return end;
}

/** Removes the blanks at both ends of the text. */
export function trimBlanks(text: string): string {
  let start = 0;
  while (start < text.length && isBlank(text.charCodeAt(start))) start += 1;
  return text.slice(start, findBlankEnd(text));
}

/** Replaces each half of a surrogate pair without its other half by U+FFFD. */
export function replaceHalves(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\uFFFD");
}

/** True for the first half of a surrogate pair, which alone is not a character and has no UTF-8. */
export function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
