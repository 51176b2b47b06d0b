/** Returns backticks that the text cannot close: one more than its longest run, and at least `shortest` (N16). */
export function toFence(text: string, shortest = 3): string {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return "`".repeat(Math.max(shortest, longest + 1));
}

/** Returns the text as a block that it cannot close itself, so that the lines around it are surely not part of it. */
export function toQuote(text: string): string {
  const fence = toFence(text);
  return `${fence}\n${text}\n${fence}`;
}
