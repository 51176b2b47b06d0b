/** The place where a search found something, as parts of its text. */
import type { SearchMatch } from "@sheaf/protocol";

export interface MarkedPart {
  readonly text: string;
  readonly isMatch: boolean;
}

/** Ranges that overlap, are out of order or lead outside of the text are cut to what makes sense. */
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
