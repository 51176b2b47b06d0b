/**
 * Finds the text that a model wants to replace in a file. Four rules apply in order: the exact text, without line ends
 * and trailing blanks, with shifted indentation, with folded typographic characters. The first rule that matches
 * anywhere decides, and all but the exact one must match exactly one place. No rule uses anchors or similarity.
 */
import { toLineEnd, type LineEnd } from "@sheaf/base/files/text-format";
import { foldText, type FoldedText } from "./edit-matching-fold.ts";

export type MatchRule = "exact" | "trailing_blanks" | "indentation" | "typography";

/** One change, as the model wants it. */
export interface TextEdit {
  readonly oldString: string;
  readonly newString: string;
  readonly replaceAll?: boolean | undefined;
}

/** A part of a text and its replacement. */
export interface EditPlace {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

/** The places of the first rule that matches; empty if no rule does. */
export interface FoundPlaces {
  readonly rule: MatchRule;
  /** In order, perhaps with overlaps; at most {@link MAX_PLACES}, unless the edit replaces all. */
  readonly places: readonly EditPlace[];
}

/** Most places that an ambiguous edit has; Sheaf ignores further ones. */
export const MAX_PLACES = 1000;

/** Finds the places of an edit whose old string is not empty. */
export function findPlaces(text: string, edit: TextEdit): FoundPlaces {
  const exact = findExact(text, edit);
  if (exact.length > 0) return { rule: "exact", places: exact };
  for (const [rule, find] of foldedRules) {
    const places = find(text, edit);
    if (places.length > 0) return { rule, places };
  }
  return { rule: "exact", places: [] };
}

const foldedRules: readonly (readonly [MatchRule, (text: string, edit: TextEdit) => EditPlace[]])[] = [
  ["trailing_blanks", findWithoutTrailingBlanks],
  ["indentation", findShifted],
  ["typography", findWithoutTypography],
];

/** Finds exact places: with overlaps ("aa" in "aaa" is ambiguous), unless the edit replaces all. */
function findExact(text: string, { oldString, newString, replaceAll }: TextEdit): EditPlace[] {
  const step = replaceAll ? oldString.length : 1;
  const limit = replaceAll ? Infinity : MAX_PLACES;
  return findAll(text, oldString, step, limit).map((start) => {
    const literal = oldString.includes("\r") || newString.includes("\r");
    const lineEnd = literal ? undefined : findLineEnd(text, start);
    const replacement = lineEnd === "\r\n" ? toLineEnd(newString, lineEnd) : newString;
    return { start, end: start + oldString.length, replacement };
  });
}

function findWithoutTrailingBlanks(text: string, { oldString, newString }: TextEdit): EditPlace[] {
  return findFolded(foldText(text), foldText(oldString).text, oldString).map(({ from, to, folded }) => {
    const start = folded.offsets[from]!;
    return { start, end: toEnd(text, folded, to), replacement: toLocalLineEnd(newString, text, start) };
  });
}

/** Finds whole lines with the same blanks more or less, or with tabs for blanks, and indents the new text alike. */
function findShifted(text: string, { oldString, newString }: TextEdit): EditPlace[] {
  const needle = foldText(oldString, { indentation: true }).text;
  // Lines of brackets alone are everywhere.
  if (!/[\p{L}\p{N}]/u.test(needle)) return [];
  const places: EditPlace[] = [];
  for (const { from, to, folded } of findFolded(foldText(text, { indentation: true }), needle, oldString)) {
    if (!isLineStart(folded.text, from) || !(needle.endsWith("\n") || isLineEnd(folded.text, to))) continue;
    const start = toLineStart(text, folded.offsets[from]!);
    const end = toEnd(text, folded, to);
    const change = findIndentationChange(text.slice(start, end), oldString);
    if (!change) continue;
    const shifted = changeIndentation(newString, change);
    // The model may mean this place, so the edit must not change another one.
    if (shifted === undefined) return [];
    places.push({ start, end, replacement: toLocalLineEnd(shifted, text, start) });
  }
  return places;
}

/** Finds text by folded characters. The common ends of old and new string keep the file's typography. */
function findWithoutTypography(text: string, { oldString, newString }: TextEdit): EditPlace[] {
  const needle = foldText(oldString, { typography: true }).text;
  const added = foldText(newString, { typography: true });
  const prefix = countCommonPrefix(needle, added);
  const suffix = countCommonSuffix(needle, added, prefix);
  return findFolded(foldText(text, { typography: true }), needle, oldString).flatMap(({ from, to, folded }) => {
    if (!isUnitEdge(folded, from) || !isUnitEdge(folded, to)) return [];
    const start = folded.offsets[from]!;
    const end = toEnd(text, folded, to);
    const keptStart = isUnitEdge(folded, from + prefix) ? folded.offsets[from + prefix]! : start;
    const keptEnd = suffix > 0 && isUnitEdge(folded, to - suffix) ? folded.offsets[to - suffix]! : end;
    const newStart = keptStart === start ? 0 : added.offsets[prefix]!;
    const newEnd = keptEnd === end ? newString.length : added.offsets[added.text.length - suffix]!;
    const middle = toLocalLineEnd(newString.slice(newStart, newEnd), text, start);
    return [{ start, end, replacement: text.slice(start, keptStart) + middle + text.slice(keptEnd, end) }];
  });
}

interface FoldedPlace {
  readonly folded: FoldedText;
  readonly from: number;
  readonly to: number;
}

/** Finds folded text. Blanks at the end of the old string must end a line: "x " is not the start of "x;". */
function findFolded(folded: FoldedText, needle: string, oldString: string): FoldedPlace[] {
  if (needle.trim() === "") return [];
  const mustEndLine = /[^\S\r\n]$/.test(oldString);
  return findAll(folded.text, needle, 1, MAX_PLACES)
    .map((from) => ({ folded, from, to: from + needle.length }))
    .filter(({ to }) => !mustEndLine || isLineEnd(folded.text, to));
}

function findAll(text: string, needle: string, step: number, limit: number): number[] {
  const found: number[] = [];
  for (let index = text.indexOf(needle); index !== -1; index = text.indexOf(needle, index + step)) {
    found.push(index);
    if (found.length === limit) break;
  }
  return found;
}

/** Returns the start of a line. `lastIndexOf` treats a position below 0 as 0. */
function toLineStart(text: string, offset: number): number {
  return offset === 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;
}

function isLineStart(text: string, index: number): boolean {
  return index === 0 || text[index - 1] === "\n";
}

function isLineEnd(text: string, index: number): boolean {
  return index === text.length || text[index] === "\n";
}

/** Returns true if a unit of the original starts at this unit of the folded text. */
function isUnitEdge({ offsets }: FoldedText, index: number): boolean {
  return index === 0 || offsets[index] !== offsets[index - 1];
}

/** Returns the end of a folded part in the original, with blanks before the line end, without indentation after it. */
function toEnd(text: string, { text: folded, offsets }: FoldedText, to: number): number {
  return folded[to - 1] === "\n" ? text.indexOf("\n", offsets[to - 1]) + 1 : offsets[to]!;
}

function toLocalLineEnd(newString: string, text: string, start: number): string {
  const lineEnd = findLineEnd(text, start);
  return lineEnd === undefined ? newString : toLineEnd(newString, lineEnd);
}

/** Returns the line end of this line, else of the one before; undefined in a text of one line. */
function findLineEnd(text: string, start: number): LineEnd | undefined {
  const next = text.indexOf("\n", start);
  const index = next === -1 ? text.lastIndexOf("\n") : next;
  if (index === -1) return undefined;
  return text[index - 1] === "\r" ? "\r\n" : "\n";
}

/** Counts the units with which both texts start, whole units of the new string only. */
function countCommonPrefix(needle: string, added: FoldedText): number {
  const limit = Math.min(needle.length, added.text.length);
  let count = 0;
  while (count < limit && needle[count] === added.text[count]) count += 1;
  while (count > 0 && !isUnitEdge(added, count)) count -= 1;
  return count;
}

/** Counts the units with which both texts end, without units of the prefix. */
function countCommonSuffix(needle: string, added: FoldedText, prefix: number): number {
  const limit = Math.min(needle.length, added.text.length) - prefix;
  let count = 0;
  while (count < limit && needle.at(-1 - count) === added.text.at(-1 - count)) count += 1;
  while (count > 0 && !isUnitEdge(added, added.text.length - count)) count -= 1;
  return count;
}

/** One difference that applies to all lines. */
type IndentationChange =
  /** The file's lines have these blanks more, or less. */
  | { readonly kind: "shift"; readonly blanks: string; readonly isMore: boolean }
  /** The file has tabs where the others have `width` spaces, or vice versa. */
  | { readonly kind: "tabs"; readonly width: number; readonly toTabs: boolean };

/**
 * Returns the one difference between all lines that are not blank; undefined if they differ in another way, or not at
 * all. Both texts have the same lines, except for their blanks at the start.
 */
function findIndentationChange(actual: string, expected: string): IndentationChange | undefined {
  const expectedLines = expected.split("\n");
  const pairs = actual
    .split("\n")
    .map((line, index) => ({ actual: toIndentation(line), expected: expectedLines[index] ?? "" }))
    .filter((pair) => pair.expected.trim() !== "")
    .map((pair) => ({ ...pair, expected: toIndentation(pair.expected) }));
  return findShift(pairs) ?? findTabs(pairs, true) ?? findTabs(pairs, false);
}

/** Changes the indentation of all lines; undefined if a line lacks the indentation to change. */
function changeIndentation(text: string, change: IndentationChange): string | undefined {
  const changed: string[] = [];
  for (const line of text.split("\n")) {
    const own = line.trim() === "" ? line : changeLine(line, change);
    if (own === undefined) return undefined;
    changed.push(own);
  }
  return changed.join("\n");
}

interface Pair {
  readonly actual: string;
  readonly expected: string;
}

function findShift(pairs: readonly Pair[]): IndentationChange | undefined {
  let shift: { readonly blanks: string; readonly isMore: boolean } | undefined;
  for (const pair of pairs) {
    const own = toShift(pair);
    if (own === undefined || (shift && (own.blanks !== shift.blanks || own.isMore !== shift.isMore))) return undefined;
    shift = own;
  }
  return shift && shift.blanks !== "" ? { kind: "shift", ...shift } : undefined;
}

function toShift({ actual, expected }: Pair): { readonly blanks: string; readonly isMore: boolean } | undefined {
  if (actual.endsWith(expected)) return { blanks: actual.slice(0, actual.length - expected.length), isMore: true };
  if (!expected.endsWith(actual)) return undefined;
  return { blanks: expected.slice(0, expected.length - actual.length), isMore: false };
}

/** Returns a change with one tab for the same number of blanks in each line. */
function findTabs(pairs: readonly Pair[], toTabs: boolean): IndentationChange | undefined {
  let width: number | undefined;
  for (const { actual, expected } of pairs) {
    const [tabs, blanks] = toTabs ? [actual, expected] : [expected, actual];
    if (/[^\t]/.test(tabs) || /[^ ]/.test(blanks) || (tabs === "") !== (blanks === "")) return undefined;
    if (tabs === "") continue;
    width ??= blanks.length / tabs.length;
    if (tabs.length * width !== blanks.length) return undefined;
  }
  return width !== undefined && Number.isInteger(width) ? { kind: "tabs", width, toTabs } : undefined;
}

function changeLine(line: string, change: IndentationChange): string | undefined {
  if (change.kind === "shift") {
    if (change.isMore) return change.blanks + line;
    return line.startsWith(change.blanks) ? line.slice(change.blanks.length) : undefined;
  }
  const indentation = toIndentation(line);
  const rest = line.slice(indentation.length);
  if (!change.toTabs) return indentation.replaceAll("\t", " ".repeat(change.width)) + rest;
  // A tab in it would have a different width.
  if (indentation.includes("\t")) return undefined;
  const tabs = Math.floor(indentation.length / change.width);
  return "\t".repeat(tabs) + " ".repeat(indentation.length % change.width) + rest;
}

function toIndentation(line: string): string {
  return line.slice(0, line.search(/[^ \t]|$/));
}
