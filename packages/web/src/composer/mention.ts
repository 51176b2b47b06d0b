/** Mentions of workspace files in a message: `@src/main.py`, `@"with blanks.md"`. The model reads them with its tools. */
import type { OpenWord } from "./completion-sources.ts";

/** Returns the mention that ends at the caret; undefined if none does. */
export function findMention(text: string, caret: number): OpenWord | undefined {
  const [, before, query] = /(^|[\s(])@("?[^\s@"]*)$/.exec(text.slice(0, caret)) ?? [];
  if (before === undefined || query === undefined) return undefined;
  return { start: caret - query.length - 1, query: query.replace(/^"/, "") };
}

/** Returns the mention of a path, with the blank after it. */
export function toMention(path: string): string {
  return /\s/.test(path) ? `@"${path}" ` : `@${path} `;
}
