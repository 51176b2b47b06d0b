/**
 * The title of a test that proves clauses of the contracts.
 * `test(verifies("C7", "joined deltas are the result"), …)` gives "[C7] joined deltas are the result".
 * The conformance gate reads these numbers out of the test sources.
 */
export function verifies(clauses: string | readonly string[], title: string): string {
  const numbers = typeof clauses === "string" ? [clauses] : clauses;
  return `[${numbers.join(" ")}] ${title}`;
}
