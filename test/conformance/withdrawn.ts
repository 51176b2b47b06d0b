/** Promises that were taken back on purpose. Nothing else may disappear from the contracts. */

/** A clause that was in `docs/formats`. Its number is never given again. */
interface WithdrawnClause {
  readonly id: string;
  /** One sentence: why nobody needs it any more, or what replaces it. */
  readonly reason: string;
}

export const withdrawnClauses: readonly WithdrawnClause[] = [];

/** Clauses of `covered` that are neither in the contracts nor withdrawn. */
export function findLostClauses(
  covered: readonly string[],
  known: ReadonlySet<string>,
  withdrawn: readonly WithdrawnClause[] = withdrawnClauses,
): string[] {
  return covered.filter((clause) => !known.has(clause) && !withdrawn.some(({ id }) => id === clause));
}

/** Parts of `test/oracle` that nothing makes any more, with the reason. */
export const withdrawnOutputs: Readonly<Record<string, string>> = {
  "export, HTML": "Markdown and the page show a conversation to people; hardly anyone needs it as an HTML file.",
};
