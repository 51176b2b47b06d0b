/** The hunks of a patch, and the lines of the file between them, which the patch doesn't have. */
import { type DiffLine, parsePatch } from "./diff-lines.ts";

export interface Hunk {
  /** Text after the numbers in the hunk's head: often the name of the function. */
  readonly section: string;
  readonly lines: readonly DiffLine[];
}

/** Lines of the present file that no hunk shows. */
export interface HiddenLines {
  /** First and last line, from 1. `to` is missing while the length of the file is unknown. */
  readonly from: number;
  readonly to?: number;
  /** Difference to the old file: a line's number minus `shift` is its old number. */
  readonly shift: number;
}

/** Number of lines that a patch has around a change, unless the file starts or ends there. */
const contextLines = 3;

export function parseHunks(patch: string): readonly Hunk[] {
  return splitAtGaps(parsePatch(patch)).filter(({ lines }) => lines.length > 0);
}

/** Splits lines at their gaps. */
export function splitAtGaps(lines: readonly DiffLine[]): readonly Hunk[] {
  const hunks: { readonly section: string; readonly lines: DiffLine[] }[] = [{ section: "", lines: [] }];
  for (const line of lines) {
    if (line.kind === "gap") hunks.push({ section: line.text, lines: [] });
    else hunks.at(-1)!.lines.push(line);
  }
  return hunks;
}

/**
 * Returns the gap before each hunk, and the one after the last; undefined for a place without hidden lines.
 * @param totalLines number of lines of the present file, as soon as it is known
 */
export function findHiddenLines(
  hunks: readonly Hunk[],
  totalLines: number | undefined,
): readonly (HiddenLines | undefined)[] {
  let from = 1;
  let shift = 0;
  const gaps: (HiddenLines | undefined)[] = [];
  for (const { lines } of hunks) {
    const first = lines.find(({ newNumber }) => newNumber !== undefined)?.newNumber;
    gaps.push(first === undefined ? undefined : toGap(from, first - 1, shift));
    const last = lines.findLast(({ kind }) => kind === "same");
    if (last !== undefined) shift = last.newNumber! - last.oldNumber!;
    from = (lines.findLast(({ newNumber }) => newNumber !== undefined)?.newNumber ?? Infinity) + 1;
  }
  const after = hunks.at(-1)?.lines.slice(-contextLines) ?? [];
  const isEnd = after.length < contextLines || after.some(({ kind }) => kind !== "same");
  return [...gaps, isEnd ? undefined : toGap(from, totalLines, shift)];
}

function toGap(from: number, to: number | undefined, shift: number): HiddenLines | undefined {
  if (to === undefined) return { from, shift };
  return to < from ? undefined : { from, to, shift };
}

/** Numbers of visible lines of a gap: at its start, below the previous hunk, and at its end, above the next one. */
export interface ShownLines {
  readonly start: number;
  readonly end: number;
}

/** The lines of a gap, visible and hidden. */
export interface GapParts {
  readonly start: readonly DiffLine[];
  readonly end: readonly DiffLine[];
  /** First and last line that stay hidden; undefined if all are visible. */
  readonly hidden: { readonly from: number; readonly to: number | undefined } | undefined;
}

/** Divides a gap into visible and hidden lines. @param texts lines read from the file, by number */
export function divideGap(
  { from, to, shift }: HiddenLines,
  shown: ShownLines,
  texts: ReadonlyMap<number, DiffLine>,
): GapParts {
  const start = readLines(from, Math.min(from + shown.start - 1, to ?? Infinity), shift, texts);
  const rest = from + start.length;
  if (to === undefined) return { start, end: [], hidden: { from: rest, to } };
  const end = readLines(Math.max(rest, to - shown.end + 1), to, shift, texts);
  return { start, end, hidden: rest <= to - end.length ? { from: rest, to: to - end.length } : undefined };
}

function readLines(from: number, to: number, shift: number, texts: ReadonlyMap<number, DiffLine>): DiffLine[] {
  const lines: DiffLine[] = [];
  for (let number = from; number <= to; number += 1) {
    const line = texts.get(number);
    if (line === undefined) break;
    lines.push({ ...line, oldNumber: number - shift });
  }
  return lines;
}
