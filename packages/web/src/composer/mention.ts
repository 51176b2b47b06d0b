/** Mentions of workspace files in a message: `@src/main.py`, `@"with blanks.md"`. The model reads them with its tools. */

/** A mention that is being typed. */
export interface OpenMention {
  /** Where its `@` is. UTF-16 units. */
  readonly start: number;
  readonly query: string;
}

/** The mention that ends at the caret; undefined if none does. */
export function findMention(text: string, caret: number): OpenMention | undefined {
  const [, before, query] = /(^|[\s(])@("?[^\s@"]*)$/.exec(text.slice(0, caret)) ?? [];
  if (before === undefined || query === undefined) return undefined;
  return { start: caret - query.length - 1, query: query.replace(/^"/, "") };
}

/** A mention of a path, with the blank after it. */
export function toMention(path: string): string {
  return /\s/.test(path) ? `@"${path}" ` : `@${path} `;
}
