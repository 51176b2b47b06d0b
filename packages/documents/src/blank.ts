/** Is the character code that of a space or a tab? CommonMark knows no other blanks. */
export function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** The place of the first character at or behind `from` that is no blank; the length of the text if there is none. */
function skipBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && isBlank(text.charCodeAt(at))) at += 1;
  return at;
}

/** The place where the blanks at the end of the text start. */
export function findBlankEnd(text: string): number {
  let end = text.length;
  while (end > 0 && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return end;
}

/** The text without the blanks at both ends. */
export function trimBlanks(text: string): string {
  return text.slice(skipBlanks(text, 0), findBlankEnd(text));
}

/** The column behind a blank that stands at `column`; a tab goes on to the next multiple of four. */
export function toNextColumn(code: number, column: number): number {
  return code === 0x09 ? column + 4 - (column % 4) : column + 1;
}
