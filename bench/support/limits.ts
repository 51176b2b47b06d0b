/** The table of regression limits in `docs/performance.md`: reading it, judging figures by it, and rewriting it. */
import type { Figure } from "./measure.ts";

/** A figure may become this much worse than the table. */
const tolerance = 1.25;

/** One row of the table. */
export interface Limit {
  readonly bench: string;
  readonly figure: string;
  /** Multiple of the floor when the row was written. */
  readonly multiple: number;
}

const head = ["bench", "figure", "floor", "Sheaf", "multiple of the floor"];

const toCells = (line: string): string[] =>
  line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());

const isHead = (line: string): boolean => toCells(line).join() === head.join();

/** The lines of the table: its head, a line of dashes, the rows. @throws Error when the text has no such table. */
function findTable(lines: readonly string[]): { readonly start: number; readonly end: number } {
  const start = lines.findIndex(isHead);
  if (start < 0) throw new Error(`docs/performance.md has no table with the columns ${head.join(", ")}: restore it`);
  const length = lines.slice(start).findIndex((line) => !line.startsWith("|"));
  return { start, end: length < 0 ? lines.length : start + length };
}

/** Reads the table out of the text of `docs/performance.md`. @throws Error when it is missing or a row is malformed. */
export function parseLimits(text: string): Limit[] {
  const lines = text.split("\n");
  const { start, end } = findTable(lines);
  return lines.slice(start + 2, end).map((line) => {
    const [bench = "", figure = "", , , multiple = ""] = toCells(line);
    if (!/^\d+(\.\d+)?$/.test(multiple)) {
      throw new Error(`docs/performance.md: "${line}" does not end with a multiple of the floor, for instance 2.1`);
    }
    return { bench, figure, multiple: Number(multiple) };
  });
}

/** The same text with the rows of one bench replaced; rows of a new bench are added at the end. */
export function replaceLimits(text: string, bench: string, figures: readonly Figure[]): string {
  const lines = text.split("\n");
  const { start, end } = findTable(lines);
  const rows = lines.slice(start + 2, end);
  const own = figures.map((figure) => `| ${[bench, ...toRow(figure)].join(" | ")} |`);
  const isOwn = (line: string): boolean => toCells(line)[0] === bench;
  const first = rows.findIndex(isOwn);
  const before = first < 0 ? rows : rows.slice(0, first);
  const after = first < 0 ? [] : rows.slice(first).filter((line) => !isOwn(line));
  return [...lines.slice(0, start + 2), ...before, ...own, ...after, ...lines.slice(end)].join("\n");
}

export const toMultiple = ({ floor, sheaf }: Figure): number => sheaf / floor;

/** Three digits are more than a benchmark knows. */
const formatAmount = (value: number, unit: string): string =>
  `${value < 10 ? value.toFixed(1) : value.toFixed(0)} ${unit}`;

/** Cells: name, floor, Sheaf, multiple. */
export function toRow(figure: Figure): string[] {
  const { name, unit, floor, sheaf } = figure;
  return [name, formatAmount(floor, unit), formatAmount(sheaf, unit), toMultiple(figure).toFixed(2)];
}

/** What is wrong with the figures of a bench, one message each; empty when all are within their limits. */
export function findRegressions(limits: readonly Limit[], bench: string, figures: readonly Figure[]): string[] {
  const own = limits.filter((limit) => limit.bench === bench);
  const update = `run "npm run bench -- ${bench} --update"`;
  const gone = own
    .filter(({ figure }) => !figures.some(({ name }) => name === figure))
    .map(({ figure }) => `${bench}: "${figure}" is in docs/performance.md but was not measured: ${update}`);
  const worse = figures.flatMap((figure) => {
    const [name, floor, sheaf, multiple] = toRow(figure);
    const limit = own.find((row) => row.figure === name);
    if (!limit) return [`${bench}: "${name}" has no limit in docs/performance.md: ${update}`];
    const most = limit.multiple * tolerance;
    if (toMultiple(figure) <= most) return [];
    const measured = `measured ${multiple} times the floor (${sheaf}, floor ${floor})`;
    const allowed = `limit ${most.toFixed(2)} (25 % over the ${limit.multiple.toFixed(2)} of docs/performance.md)`;
    const advice = `find what made it slower, or ${update} and give the reason in the commit`;
    return [`${bench}: "${name}": ${measured}, ${allowed}: ${advice}`];
  });
  return [...gone, ...worse];
}
