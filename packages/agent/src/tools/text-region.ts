/** Finds the region of a text that a change replaces. */
import type { StructuredPatchHunk } from "diff";

/** The part of a text that a change replaces. Offsets are UTF-16 units. */
export interface TextRegion {
  /** The start, which is the same before and after. */
  readonly start: number;
  readonly endBefore: number;
  readonly endAfter: number;
}

/** Returns the lines from the first that differs to the last; empty if the texts are equal. */
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

/** Returns the first start of a line at or after `offset`; the end of the text if none follows. */
function toLineStart(text: string, offset: number, first: number): number {
  if (offset === first || text[offset - 1] === "\n") return offset;
  const lineEnd = text.indexOf("\n", offset);
  return lineEnd === -1 ? text.length : lineEnd + 1;
}

/** Extends `region` by a further replacement of `[start, end)` of the present text by `length` units. */
export function extendRegion(region: TextRegion | undefined, start: number, end: number, length: number): TextRegion {
  if (!region) return { start, endBefore: end, endAfter: start + length };
  // Outside the region the present text is the text before, shifted by the region's growth.
  const grown = region.endAfter - region.endBefore;
  return {
    start: Math.min(region.start, start),
    endBefore: Math.max(region.endBefore, end - grown),
    endAfter: Math.max(region.endAfter, end) + length - (end - start),
  };
}

/**
 * Returns the result of comparing two texts, if only one is possible: no new line is among the old ones after the
 * common start, and no removed line is among those that stay at the end. Undefined if several are possible, if the
 * texts are equal, or if a text does not end with its line.
 */
export function toReplacementHunk(before: string, after: string, context: number): StructuredPatchHunk | undefined {
  const [old, next] = [toLines(before), toLines(after)];
  if (!old || !next) return undefined;
  const shorter = Math.min(old.length, next.length);
  let head = 0;
  while (head < shorter && old[head] === next[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === next.at(-1 - tail)) tail += 1;
  const removed = old.slice(head, old.length - tail);
  const added = next.slice(head, next.length - tail);
  if (removed.length === 0 && added.length === 0) return undefined;
  const end = old.slice(old.length - tail);
  const [ofEnd, ofRest] = [new Set(end), new Set(old.slice(head))];
  if (removed.some((line) => ofEnd.has(line)) || added.some((line) => ofRest.has(line))) return undefined;
  const start = Math.max(0, head - context);
  const around = [old.slice(start, head), end.slice(0, context)] as const;
  const kept = around[0].length + around[1].length;
  return {
    oldStart: start + 1,
    oldLines: kept + removed.length,
    newStart: start + 1,
    newLines: kept + added.length,
    lines: [
      ...around[0].map((line) => ` ${line}`),
      ...removed.map((line) => `-${line}`),
      ...added.map((line) => `+${line}`),
      ...around[1].map((line) => ` ${line}`),
    ],
  };
}

/** Splits a text into lines without their ends; undefined if the last line has no end. */
function toLines(text: string): string[] | undefined {
  if (text === "") return [];
  return text.endsWith("\n") ? text.slice(0, -1).split("\n") : undefined;
}
