/** The place of a file that an old string may have meant. It is shown, never changed. */
import { foldText } from "./edit-matching-fold.ts";

export interface NearestPlace {
  /** 1-based first line. */
  readonly line: number;
  /** Some lines with their numbers, cut to a bounded size. */
  readonly excerpt: string;
}

const MAX_LINES_SEARCHED = 100_000;
const MAX_LINES_COMPARED = 5000;
const MAX_LINES_SHOWN = 12;
const MAX_CHARS_SHOWN = 160;
const MAX_CHARS_COMPARED = 200;
/** A line that stands in more places than this says little about the place. */
const MAX_PLACES_OF_LINE = 50;
/** Part of the pairs of letters that two lines must share. */
const MIN_SIMILARITY = 0.5;

/** The place that shares the most lines with `oldString`, else the line most like its longest one. */
export function formatNearestPlace(text: string, oldString: string): NearestPlace | undefined {
  const lines = text.split("\n", MAX_LINES_SEARCHED);
  const wanted = oldString.split("\n", MAX_LINES_SHOWN * 10);
  const index = findByLines(lines, wanted) ?? findBySimilarity(lines, wanted);
  if (index === undefined) return undefined;
  const start = Math.max(0, index);
  const shown = lines.slice(start, start + Math.min(wanted.length, MAX_LINES_SHOWN));
  const width = `${start + shown.length}`.length;
  const excerpt = shown.map((line, offset) => `${`${start + offset + 1}`.padStart(width)}| ${toShown(line)}`);
  return { line: start + 1, excerpt: excerpt.join("\n") };
}

/** Each line that stands in the file votes for the place where the whole would begin. */
function findByLines(lines: readonly string[], wanted: readonly string[]): number | undefined {
  const places = new Map<string, number[]>(wanted.map((line) => [toCompared(line), []]));
  for (const [index, line] of lines.entries()) {
    const found = places.get(toCompared(line));
    if (found && found.length <= MAX_PLACES_OF_LINE) found.push(index);
  }
  const votes = new Map<number, number>();
  for (const [offset, line] of wanted.entries()) {
    const compared = toCompared(line);
    const found = places.get(compared) ?? [];
    if (!/[\p{L}\p{N}]/u.test(compared) || found.length > MAX_PLACES_OF_LINE) continue;
    for (const index of found) votes.set(index - offset, (votes.get(index - offset) ?? 0) + 1);
  }
  let best: number | undefined;
  for (const [start, count] of votes) if (best === undefined || count > votes.get(best)!) best = start;
  return best;
}

function findBySimilarity(lines: readonly string[], wanted: readonly string[]): number | undefined {
  const compared = wanted.map(toCompared);
  const offset = compared.reduce((best, line, index) => (line.length > compared[best]!.length ? index : best), 0);
  const pairs = toPairs(compared[offset]!);
  let best: number | undefined;
  let bestSimilarity = MIN_SIMILARITY;
  for (const [index, line] of lines.slice(0, MAX_LINES_COMPARED).entries()) {
    const similarity = toSimilarity(pairs, toPairs(toCompared(line)));
    if (similarity <= bestSimilarity) continue;
    best = index - offset;
    bestSimilarity = similarity;
  }
  return best;
}

function toSimilarity(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  if (one.size === 0 || other.size === 0) return 0;
  let shared = 0;
  for (const pair of one) if (other.has(pair)) shared += 1;
  return (2 * shared) / (one.size + other.size);
}

function toPairs(line: string): Set<string> {
  const pairs = new Set<string>();
  for (let index = 0; index + 1 < line.length; index += 1) pairs.add(line.slice(index, index + 2));
  return pairs;
}

function toCompared(line: string): string {
  const cut = line.slice(0, MAX_CHARS_COMPARED);
  return foldText(cut, { indentation: true, typography: true }).text.toLowerCase();
}

function toShown(line: string): string {
  const shown = line.trimEnd();
  if (shown.length <= MAX_CHARS_SHOWN) return shown;
  return `${shown.slice(0, MAX_CHARS_SHOWN).toWellFormed()}…`;
}
