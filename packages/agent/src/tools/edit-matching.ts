/** Applies all edits of a call to one text: each sees the result of the previous ones, and either all apply or none. */
import type { ToolError } from "@sheaf/protocol";
import { addLineNumbers, removeLineNumbers } from "@sheaf/base/files/numbered-lines";
import { findNearest } from "@sheaf/base/nearest-names";
import { countLineEnds } from "@sheaf/base/files/text-format";
import {
  findPlaces,
  MAX_PLACES,
  type EditPlace,
  type FoundPlaces,
  type MatchRule,
  type TextEdit,
} from "./edit-matching-rules.ts";
import { extendRegion, type TextRegion } from "./text-region.ts";
import { foldText } from "./edit-matching-fold.ts";

/** The text after all edits, or the reason why Sheaf applied none. */
export type EditResult =
  | {
      readonly ok: true;
      readonly text: string;
      /** The part from the first changed place to the last: one exact replacement (N31). */
      readonly region: TextRegion;
      /** The rule that found the place of each edit. */
      readonly matched: readonly MatchRule[];
      /** Number of replaced places. */
      readonly places: number;
      /** True if Sheaf ignored line numbers in an old string. */
      readonly hadNumbers: boolean;
    }
  | {
      readonly ok: false;
      /**
       * NO_MATCH, AMBIGUOUS_EDIT, NOTHING_TO_CHANGE, EMPTY_OLD_STRING, INVALID_EDIT. For NO_MATCH, `details` has the
       * nearest place with line numbers, perhaps in several lines.
       */
      readonly error: ToolError;
    };

/** Length from which a new text shows that the edit has been made, wherever it is. UTF-16 units. */
const MIN_MADE = 60;

/** Most line numbers in an error. */
const MAX_SHOWN_LINES = 20;

/** Applies edits to the text of the file `name` (which errors show). An empty old string matches only an empty text. */
export function applyEdits(name: string, text: string, edits: readonly TextEdit[]): EditResult {
  let current = text;
  let region: TextRegion | undefined;
  const matched: MatchRule[] = [];
  let places = 0;
  let hadNumbers = false;
  for (const [index, edit] of edits.entries()) {
    const label = edits.length === 1 ? name : `${name}, edit ${index + 1} of ${edits.length}`;
    const found = findEdit(label, current, edit);
    if (!found.ok) return found;
    // A rule that ignores something must not find a text elsewhere that an earlier edit removed.
    if (found.rule !== "exact" && text.includes(edit.oldString)) {
      const way = "quote the text as the edits before leave it, or make one edit of them";
      return toFault("NO_MATCH", `${label}: an earlier edit changed what old_string quotes: ${way}`);
    }
    for (const place of found.places.toReversed()) {
      region = extendRegion(region, place.start, place.end, place.replacement.length);
    }
    current = replacePlaces(current, found.places);
    matched.push(found.rule);
    places += found.places.length;
    hadNumbers ||= found.hadNumbers;
  }
  if (region === undefined || current === text) {
    return toFault("NOTHING_TO_CHANGE", `${name}: the edits change nothing, so leave them out or correct new_string`);
  }
  return { ok: true, text: current, region, matched, places, hadNumbers };
}

type FoundEdit =
  | ({ readonly ok: true; readonly hadNumbers: boolean } & FoundPlaces)
  | { readonly ok: false; readonly error: ToolError };

function findEdit(label: string, text: string, written: TextEdit): FoundEdit {
  const { oldString, newString, replaceAll } = written;
  if (!oldString.isWellFormed() || !newString.isWellFormed()) {
    return toFault(
      "INVALID_EDIT",
      `${label}: old_string or new_string has half a surrogate pair, so write valid Unicode`,
    );
  }
  if (oldString === newString) {
    return toFault("NOTHING_TO_CHANGE", `${label}: old_string and new_string are the same, so correct new_string`);
  }
  if (oldString === "") return findEmpty(label, text, newString);
  const { edit, found, hadNumbers } = findWithoutNumbers(text, written);
  if (found.places.length === 0) return toNoMatch(label, text, written);
  if (found.places.length > 1 && !(replaceAll && found.rule === "exact")) return toAmbiguous(label, text, found, edit);
  if (found.places.every((place) => text.slice(place.start, place.end) === place.replacement)) {
    const line = toLine(text, found.places[0]!.start);
    return toFault("NOTHING_TO_CHANGE", `${label}: line ${line} is already as in new_string, so leave this edit out`);
  }
  return { ok: true, ...found, hadNumbers };
}

/** Finds an edit as written, else without the line numbers that a model copied. */
function findWithoutNumbers(text: string, written: TextEdit) {
  const found = findPlaces(text, written);
  const edit = found.places.length === 0 ? withoutNumbers(written) : undefined;
  if (!edit || edit.oldString === "" || edit.oldString === edit.newString) {
    return { edit: written, found, hadNumbers: false };
  }
  return { edit, found: findPlaces(text, edit), hadNumbers: true };
}

function findEmpty(label: string, text: string, newString: string): FoundEdit {
  if (text === "")
    return { ok: true, rule: "exact", places: [{ start: 0, end: 0, replacement: newString }], hadNumbers: false };
  const way = "quote the text to replace (to add text, quote a line beside it and repeat that line in new_string)";
  return toFault("EMPTY_OLD_STRING", `${label}: old_string is empty, but the file is not: ${way}`);
}

function toAmbiguous(label: string, text: string, { places, rule }: FoundPlaces, edit: TextEdit): FoundEdit {
  const lines = toLines(text, places);
  const shown = lines.slice(0, MAX_SHOWN_LINES).join(", ") + (lines.length > MAX_SHOWN_LINES ? ", …" : "");
  const count = places.length >= MAX_PLACES ? `${MAX_PLACES} or more` : `${places.length}`;
  const how = rule === "exact" ? "" : ` (${describeRule(rule)})`;
  const all = edit.replaceAll ? "quote it exactly, since replace_all takes exact places only" : "set replace_all";
  const way = `quote more lines around the one you mean, or ${all}`;
  return toFault("AMBIGUOUS_EDIT", `${label}: old_string fits ${count} places${how}, at lines ${shown}: ${way}`);
}

function toNoMatch(label: string, text: string, { oldString, newString }: TextEdit): FoundEdit {
  const fault = (reason: string, details = "") =>
    toFault("NO_MATCH", `${label}: old_string is not in the file${reason}`, details);
  if (text === "") return fault(", which is empty: use an empty old_string");
  if (isNumbered(oldString)) return fault(": leave the line numbers out, they are not part of it");
  const nearest = formatNearestPlace(text, oldString);
  const present = newString.trim() === "" ? -1 : text.indexOf(newString);
  const line = toLine(text, Math.max(0, present));
  // A short text may be there by chance.
  const isNear = nearest !== undefined && Math.abs(line - nearest.line) <= countLineEnds(oldString);
  if (present !== -1 && (isNear || newString.trim().length >= MIN_MADE)) {
    const reason = `, but new_string is, at line ${line}: if the edit has been made already, leave it out`;
    return fault(reason, nearest?.excerpt);
  }
  if (nearest === undefined) return fault(": read the file, then quote it as it stands");
  return fault(`; the nearest place is at line ${nearest.line}: quote it exactly`, nearest.excerpt);
}

/** Returns the edit without the line numbers that a model copied; undefined unless they increase as in a listing. */
function withoutNumbers(edit: TextEdit): TextEdit | undefined {
  const oldString = removeLineNumbers(edit.oldString);
  const isCopied = (number: string): boolean => `\n${edit.oldString}`.includes(`\n${number}`);
  const newString =
    removeLineNumbers(edit.newString) ??
    edit.newString.replaceAll(/^\d+\t/gm, (number) => (isCopied(number) ? "" : number));
  return oldString === undefined || isNumbered(newString) ? undefined : { ...edit, oldString, newString };
}

/** Returns true if a line starts with a number, as in the output of read_file. */
function isNumbered(text: string): boolean {
  return /^\s*\d+\t/m.test(text);
}

/** Describes the differences that a rule ignores, for people and models. */
export function describeRule(rule: MatchRule): string {
  if (rule === "exact") return "exact";
  if (rule === "trailing_blanks") return "line ends and trailing blanks ignored";
  if (rule === "indentation") return "indentation shifted";
  return "typographic characters folded";
}

/** Replaces places, which must not overlap. */
function replacePlaces(text: string, places: readonly EditPlace[]): string {
  const parts: string[] = [];
  let end = 0;
  for (const place of places) {
    parts.push(text.slice(end, place.start), place.replacement);
    end = place.end;
  }
  return parts.join("") + text.slice(end);
}

function toLine(text: string, offset: number): number {
  return countLineEnds(text.slice(0, offset)) + 1;
}

/** Returns the lines on which the first places start, each once; one more than an error shows. */
function toLines(text: string, places: readonly EditPlace[]): number[] {
  const lines = new Set<number>();
  let line = 1;
  let counted = 0;
  for (const { start } of places) {
    line += countLineEnds(text.slice(counted, start));
    counted = start;
    lines.add(line);
    if (lines.size > MAX_SHOWN_LINES) break;
  }
  return [...lines];
}

function toFault(code: string, message: string, details = ""): { readonly ok: false; readonly error: ToolError } {
  return { ok: false, error: { code, message, details } };
}

interface NearestPlace {
  /** 1-based first line. */
  readonly line: number;
  /** Some lines with their numbers, cut to a bounded size. */
  readonly excerpt: string;
}

const MAX_LINES_SEARCHED = 100_000;
const MAX_LINES_COMPARED = 5000;
const MAX_LINES_SHOWN = 12;
const MAX_CHARS_SHOWN = 160;
const MAX_CHARS_COMPARED = 100;
/** A line that occurs more often does not help to find the place. */
const MAX_PLACES_OF_LINE = 50;

/** Returns the place that shares the most lines with `oldString`, else the line most like its longest one. */
function formatNearestPlace(text: string, oldString: string): NearestPlace | undefined {
  const lines = text.split("\n", MAX_LINES_SEARCHED);
  const wanted = oldString.split("\n", MAX_LINES_SHOWN * 10);
  const index = findByLines(lines, wanted) ?? findBySimilarity(lines, wanted);
  if (index === undefined) return undefined;
  const start = Math.max(0, index);
  return { line: start + 1, excerpt: formatExcerpt(lines.slice(start, start + wanted.length), start + 1) };
}

/** Returns the first lines with their numbers, cut to a bounded size. */
export function formatExcerpt(lines: readonly string[], startLine: number): string {
  const shown = lines.slice(0, MAX_LINES_SHOWN).map(toShown).join("\n");
  return addLineNumbers(`${shown}\n`, startLine) + (lines.length > MAX_LINES_SHOWN ? "…" : "");
}

/** Lets each line that occurs in the file vote for the place where the whole would start. */
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
  const candidates = lines.slice(0, MAX_LINES_COMPARED).map(toCompared);
  const [nearest] = findNearest(compared[offset]!, candidates);
  return nearest === undefined ? undefined : candidates.indexOf(nearest) - offset;
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
