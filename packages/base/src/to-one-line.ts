/** The text in one line: line ends, with the blanks around them, become one blank. */
export function toOneLine(text: string): string {
  // Not /\s*\n\s*/: on a hundred thousand blanks that takes a minute (S-214).
  return text.replaceAll(/\s+/g, (blanks) => (/[\r\n]/.test(blanks) ? " " : blanks));
}
