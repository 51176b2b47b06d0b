/** Ranges of lines that have one origin (C195, C270). */
import type { BlamedLine } from "./blame.ts";

export interface BlameRange extends BlamedLine {
  /** From 1. */
  readonly start: number;
  readonly end: number;
}

/** Joins neighbours; with `only`, the range is this line alone. */
export function toRanges(lines: readonly BlamedLine[], only?: number): readonly BlameRange[] {
  const ranges: BlameRange[] = [];
  for (const [at, line] of lines.entries()) {
    if (only !== undefined && at + 1 !== only) continue;
    const last = ranges.at(-1);
    const isSame = last && last.origin?.call === line.origin?.call && last.commit?.commit === line.commit?.commit;
    if (isSame) ranges[ranges.length - 1] = { ...last, end: at + 1 };
    else ranges.push({ ...line, start: at + 1, end: at + 1 });
  }
  return ranges;
}
