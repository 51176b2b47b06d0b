/**
 * The same text as a string of its own. Engines keep all of a string in memory for a slice of it, so a piece of a
 * growing answer would keep the answer as it was at that moment.
 */
export function copyText(text: string): string {
  return ` ${text}`.slice(1);
}
