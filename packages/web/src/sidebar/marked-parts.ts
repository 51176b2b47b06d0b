/** The text of a search result, divided at its matches. */
import type { SearchMatch } from "@sheaf/protocol";

export interface MarkedPart {
  readonly text: string;
  readonly isMatch: boolean;
}

/** Divides a text at its ranges. It cuts or skips invalid ones: overlapping, unordered, or beyond the text. */
export function toMarkedParts({ text, ranges }: Pick<SearchMatch, "text" | "ranges">): readonly MarkedPart[] {
  const parts: MarkedPart[] = [];
  let done = 0;
  for (const { start, end } of ranges) {
    const from = Math.max(start, done);
    const to = Math.min(end, text.length);
    if (from >= to) continue;
    parts.push({ text: text.slice(done, from), isMatch: false }, { text: text.slice(from, to), isMatch: true });
    done = to;
  }
  return [...parts, { text: text.slice(done), isMatch: false }].filter((part) => part.text !== "");
}
