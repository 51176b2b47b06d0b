/** Promises that were taken back on purpose. Nothing else may disappear from the contracts. */

/** A clause that was in `docs/formats`. Its line stays in requirements.ts, so its number is never given again. */
interface WithdrawnClause {
  readonly id: string;
  /** One sentence: why nobody needs it any more, or what replaces it. */
  readonly reason: string;
}

export const withdrawnClauses: readonly WithdrawnClause[] = [];

/** Parts of `test/oracle` that nothing makes any more, with the reason. */
export const withdrawnOutputs: Readonly<Record<string, string>> = {
  "export, HTML": "Markdown and the page show a conversation to people; hardly anyone needs it as an HTML file.",
};
