/**
 * Returns the same text as a separate string. A slice of a string keeps the whole string in memory, so a piece
 * of a growing answer would keep the answer up to that moment.
 */
export function copyText(text: string): string {
  return ` ${text}`.slice(1);
}
