/** The part of a text that a change replaces. */

/** Offsets are UTF-16 units. */
export interface TextRegion {
  /** The same before and after. */
  readonly start: number;
  readonly endBefore: number;
  readonly endAfter: number;
}

/** The lines from the first that differs to the last; empty where the texts are equal. */
export function toChangedLines(before: string, after: string): TextRegion {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before.charCodeAt(start) === after.charCodeAt(start)) start += 1;
  if (start === before.length && start === after.length) return { start, endBefore: start, endAfter: start };
  // A search from -1 would look at the first character.
  if (start > 0) start = before.lastIndexOf("\n", start - 1) + 1;

  let tail = 0;
  const most = shorter - start;
  while (tail < most && before.charCodeAt(before.length - 1 - tail) === after.charCodeAt(after.length - 1 - tail)) {
    tail += 1;
  }
  const endBefore = toLineStart(before, before.length - tail, start);
  const endAfter = after.length - (before.length - endBefore);
  return { start, endBefore, endAfter };
}

/** The first beginning of a line at or behind `offset`; the end of the text if there is none. */
function toLineStart(text: string, offset: number, first: number): number {
  if (offset === first || text[offset - 1] === "\n") return offset;
  const lineEnd = text.indexOf("\n", offset);
  return lineEnd === -1 ? text.length : lineEnd + 1;
}

/** `region`, and a further replacement of `[start, end)` of the present text by `length` units. */
export function extendRegion(region: TextRegion | undefined, start: number, end: number, length: number): TextRegion {
  if (!region) return { start, endBefore: end, endAfter: start + length };
  // Outside the region the present text is the text before, shifted by what the region grew.
  const grown = region.endAfter - region.endBefore;
  return {
    start: Math.min(region.start, start),
    endBefore: Math.max(region.endBefore, end - grown),
    endAfter: Math.max(region.endAfter, end) + length - (end - start),
  };
}
