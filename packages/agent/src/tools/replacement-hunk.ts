/** The hunk of a change that replaces some lines by others, without a comparison of all lines. */
import type { StructuredPatchHunk } from "diff";

/**
 * What comparing the two texts would give, where there is but one way to tell their lines apart: none of the new lines
 * stands among the old ones behind the common start, and none of the lines that go among those that stay at the end.
 * Undefined where there are others, where nothing changes, or where a text does not end with its line.
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

/** Without their ends; undefined if the last line has none. */
function toLines(text: string): string[] | undefined {
  if (text === "") return [];
  return text.endsWith("\n") ? text.slice(0, -1).split("\n") : undefined;
}
