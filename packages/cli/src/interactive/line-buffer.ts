/** A text in an editor of lines, and the effect of each key on it. */
import type { Key } from "node:readline";

/** A line. `cursor` is the number of UTF-16 units before it, never within a character. Ctrl-Y restores `killed`. */
export interface Line {
  readonly text: string;
  readonly cursor: number;
  readonly killed: string;
}

export const emptyLine: Line = { text: "", cursor: 0, killed: "" };

export const characters = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** Effects of keys on the text between the cursor and a place, by key, with `C-` for Ctrl and `M-` for Alt. */
const actions: readonly (readonly [string, (line: Line, place: number) => Line, (line: Line) => number])[] = [
  ["left C-b", moveTo, toCharacterStart],
  ["right C-f", moveTo, toCharacterEnd],
  ["home C-a", moveTo, toLineStart],
  ["end C-e", moveTo, toLineEnd],
  ["M-b C-left M-left", moveTo, toWordStart],
  ["M-f C-right M-right", moveTo, toWordEnd],
  ["backspace C-h", cut, toCharacterStart],
  ["delete C-d", cut, toCharacterEnd],
  ["C-w", kill, toBlankStart],
  ["M-backspace", kill, toWordStart],
  ["M-d", kill, toWordEnd],
  ["C-u", kill, toLineStart],
  ["C-k", kill, toLineCut],
];

/** Keys that start a new line within the text. */
const breaks: ReadonlySet<string> = new Set(["enter", "C-j", "M-return", "M-enter"]);

/** Returns the line after a key; undefined if the key doesn't edit. */
export function editLine(line: Line, character: string | undefined, key: Key): Line | undefined {
  const name = toKeyName(key);
  const [, act, toPlace] = actions.find(([names]) => names.split(" ").includes(name)) ?? [];
  if (act && toPlace) return act(line, toPlace(line));
  if (name === "C-y") return insertText(line, line.killed);
  if (breaks.has(name)) return insertText(line, "\n");
  const isText = character !== undefined && !key.ctrl && !key.meta && !/^\p{Cc}/u.test(character);
  return isText ? insertText(line, character) : undefined;
}

export function toKeyName({ name = "", ctrl, meta }: Key): string {
  return `${ctrl ? "C-" : ""}${meta ? "M-" : ""}${name}`;
}

/** Inserts a text at the cursor, which moves behind it. */
export function insertText(line: Line, text: string): Line {
  const cursor = line.cursor + text.length;
  return { ...line, text: line.text.slice(0, line.cursor) + text + line.text.slice(line.cursor), cursor };
}

/** Replaces the text, with the cursor at its end. */
export function rewriteLine(line: Line, text: string): Line {
  return { ...line, text, cursor: text.length };
}

/** Moves the cursor to the same column of the line above or below; undefined at the first or last line. */
export function moveLine(line: Line, step: -1 | 1): Line | undefined {
  const start = toLineStart(line);
  const edge = step === -1 ? start - 1 : toLineEnd(line) + 1;
  if (edge < 0 || edge > line.text.length) return undefined;
  const other = { ...line, cursor: edge };
  const place = Math.min(toLineStart(other) + line.cursor - start, toLineEnd(other));
  return moveTo(line, toBoundary(line.text, place));
}

function moveTo(line: Line, cursor: number): Line {
  return { ...line, cursor };
}

/** Deletes the text between the cursor and a place. */
export function cut({ text, cursor, killed }: Line, place: number): Line {
  const [start, end] = place < cursor ? [place, cursor] : [cursor, place];
  return { text: text.slice(0, start) + text.slice(end), cursor: start, killed };
}

function kill(line: Line, place: number): Line {
  const killed = line.text.slice(Math.min(line.cursor, place), Math.max(line.cursor, place));
  return { ...cut(line, place), killed: killed || line.killed };
}

function toBoundary(text: string, index: number): number {
  return characters.segment(text).containing(index)?.index ?? text.length;
}

function toCharacterStart({ text, cursor }: Line): number {
  return cursor === 0 ? 0 : toBoundary(text, cursor - 1);
}

function toCharacterEnd({ text, cursor }: Line): number {
  return cursor + (characters.segment(text).containing(cursor)?.segment.length ?? 0);
}

function toLineStart({ text, cursor }: Line): number {
  return cursor === 0 ? 0 : text.lastIndexOf("\n", cursor - 1) + 1;
}

function toLineEnd({ text, cursor }: Line): number {
  const end = text.indexOf("\n", cursor);
  return end === -1 ? text.length : end;
}

/** Returns the end of the line; at the end, the place after its line feed. */
function toLineCut(line: Line): number {
  const end = toLineEnd(line);
  return end === line.cursor ? Math.min(end + 1, line.text.length) : end;
}

function toWordStart({ text, cursor }: Line): number {
  return text.slice(0, cursor).search(/[\p{L}\p{N}\p{M}_]*[^\p{L}\p{N}\p{M}_]*$/u);
}

function toWordEnd({ text, cursor }: Line): number {
  return cursor + (/^[^\p{L}\p{N}\p{M}_]*[\p{L}\p{N}\p{M}_]*/u.exec(text.slice(cursor))?.[0].length ?? 0);
}

function toBlankStart({ text, cursor }: Line): number {
  return text.slice(0, cursor).search(/\S*\s*$/);
}
