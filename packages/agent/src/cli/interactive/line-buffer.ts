/** A text that is being written, and what each key makes of it. */

/** What node:readline says of a key. */
export interface Key {
  readonly name?: string | undefined;
  readonly sequence?: string | undefined;
  readonly ctrl?: boolean | undefined;
  readonly meta?: boolean | undefined;
}

/** `cursor`: UTF-16 units before it, never within a character. `killed`: what Ctrl-Y brings back. */
export interface Line {
  readonly text: string;
  readonly cursor: number;
  readonly killed: string;
}

export const emptyLine: Line = { text: "", cursor: 0, killed: "" };

const characters = new Intl.Segmenter(undefined, { granularity: "grapheme" });

type Edit = (line: Line) => Line;

/** By name, with `C-` for Ctrl and `M-` for Alt. */
const edits: ReadonlyMap<string, Edit> = new Map<string, Edit>([
  ["left", (line) => moveTo(line, toCharacterStart(line))],
  ["right", (line) => moveTo(line, toCharacterEnd(line))],
  ["C-b", (line) => moveTo(line, toCharacterStart(line))],
  ["C-f", (line) => moveTo(line, toCharacterEnd(line))],
  ["home", (line) => moveTo(line, toLineStart(line))],
  ["C-a", (line) => moveTo(line, toLineStart(line))],
  ["end", (line) => moveTo(line, toLineEnd(line))],
  ["C-e", (line) => moveTo(line, toLineEnd(line))],
  ["M-b", (line) => moveTo(line, toWordStart(line))],
  ["C-left", (line) => moveTo(line, toWordStart(line))],
  ["M-left", (line) => moveTo(line, toWordStart(line))],
  ["M-f", (line) => moveTo(line, toWordEnd(line))],
  ["C-right", (line) => moveTo(line, toWordEnd(line))],
  ["M-right", (line) => moveTo(line, toWordEnd(line))],
  ["backspace", (line) => cut(line, toCharacterStart(line), line.cursor)],
  ["C-h", (line) => cut(line, toCharacterStart(line), line.cursor)],
  ["delete", (line) => cut(line, line.cursor, toCharacterEnd(line))],
  ["C-d", (line) => cut(line, line.cursor, toCharacterEnd(line))],
  ["C-w", (line) => kill(line, toBlankStart(line), line.cursor)],
  ["M-backspace", (line) => kill(line, toWordStart(line), line.cursor)],
  ["M-d", (line) => kill(line, line.cursor, toWordEnd(line))],
  ["C-u", (line) => kill(line, toLineStart(line), line.cursor)],
  ["C-k", (line) => kill(line, line.cursor, Math.max(toLineEnd(line), toCharacterEnd(line, "\n")))],
  ["C-y", (line) => insertText(line, line.killed)],
  // Ctrl-J and Alt-Enter: a new line within the text.
  ["enter", (line) => insertText(line, "\n")],
  ["C-j", (line) => insertText(line, "\n")],
  ["M-return", (line) => insertText(line, "\n")],
  ["M-enter", (line) => insertText(line, "\n")],
]);

/** The line after a key; undefined: the key edits nothing. */
export function editLine(line: Line, character: string | undefined, key: Key): Line | undefined {
  const edit = edits.get(toKeyName(key));
  if (edit) return edit(line);
  const isText = character !== undefined && !key.ctrl && !key.meta && !/^\p{Cc}/u.test(character);
  return isText ? insertText(line, character) : undefined;
}

export function toKeyName({ name = "", ctrl, meta }: Key): string {
  return `${ctrl ? "C-" : ""}${meta ? "M-" : ""}${name}`;
}

/** At the cursor, which goes behind it. */
export function insertText(line: Line, text: string): Line {
  const cursor = line.cursor + text.length;
  return { ...line, text: line.text.slice(0, line.cursor) + text + line.text.slice(line.cursor), cursor };
}

/** The same column of the line above or below; undefined: there is none. */
export function moveLine(line: Line, step: -1 | 1): Line | undefined {
  const start = toLineStart(line);
  const column = line.cursor - start;
  if (step === -1) {
    if (start === 0) return undefined;
    const above = toLineStart({ ...line, cursor: start - 1 });
    return moveTo(line, toBoundary(line.text, Math.min(above + column, start - 1)));
  }
  const end = toLineEnd(line);
  if (end === line.text.length) return undefined;
  const below = toLineEnd({ ...line, cursor: end + 1 });
  return moveTo(line, toBoundary(line.text, Math.min(end + 1 + column, below)));
}

function moveTo(line: Line, cursor: number): Line {
  return { ...line, cursor };
}

function cut(line: Line, start: number, end: number): Line {
  return { ...line, text: line.text.slice(0, start) + line.text.slice(end), cursor: start };
}

function kill(line: Line, start: number, end: number): Line {
  return start === end ? line : { ...cut(line, start, end), killed: line.text.slice(start, end) };
}

function toBoundary(text: string, index: number): number {
  return characters.segment(text).containing(index)?.index ?? text.length;
}

function toCharacterStart({ text, cursor }: Line): number {
  return cursor === 0 ? 0 : toBoundary(text, cursor - 1);
}

/** `only`: the character counts only if it is this one. */
function toCharacterEnd({ text, cursor }: Line, only?: string): number {
  const segment = characters.segment(text).containing(cursor)?.segment ?? "";
  return only === undefined || segment === only ? cursor + segment.length : cursor;
}

function toLineStart({ text, cursor }: Line): number {
  return cursor === 0 ? 0 : text.lastIndexOf("\n", cursor - 1) + 1;
}

function toLineEnd({ text, cursor }: Line): number {
  const end = text.indexOf("\n", cursor);
  return end === -1 ? text.length : end;
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
