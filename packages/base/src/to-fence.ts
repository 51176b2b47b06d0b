/**
 * Backticks that nothing inside the text can close: one more than its longest run, and at least `shortest` (N16). A text
 * may have any number of runs.
 */
export function toFence(text: string, shortest = 3): string {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return "`".repeat(Math.max(shortest, longest + 1));
}
