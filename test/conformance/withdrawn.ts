/** Promises that were taken back on purpose. Nothing else may disappear from the contracts. */

/** A clause that was in `docs/formats`. Its line stays in requirements.ts, so its number is never given again. */
interface WithdrawnClause {
  readonly id: string;
  /** One sentence: why nobody needs it any more, or what replaces it. */
  readonly reason: string;
}

export const withdrawnClauses: readonly WithdrawnClause[] = [];
