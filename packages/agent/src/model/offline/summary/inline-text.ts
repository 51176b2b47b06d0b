/** The words of a line of Markdown, without its marks. */

/** A longer paragraph is cut for reading: nothing of it would be quoted whole. */
const inlineLimit = 4000;

/** Most lines of a text have no mark. */
const anyMark = /[\\`![<&*_~]/;
const anyBlank = /\s\s|[\t\n\r]/;

const entities: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  ndash: "–",
  mdash: "—",
  hellip: "…",
  copy: "©",
  middot: "·",
};

interface Cursor {
  readonly source: string;
  /** Partner of each bracket, by offset; -1 without one. */
  readonly partners: Int32Array;
  /** Lengths of backtick runs that have no partner further on. */
  readonly openRuns: Set<number>;
  hasClosingAngle: boolean;
  index: number;
}

/** Links give their text, images nothing, code stays in backticks, HTML and emphasis go. Linear in its input (S-72). */
export function toInlineText(markdown: string): string {
  const source = markdown.length > inlineLimit ? markdown.slice(0, inlineLimit) : markdown;
  const text = anyMark.test(source) ? readInline(source) : source;
  return anyBlank.test(text) ? text.replaceAll(/\s+/g, " ").trim() : text.trim();
}

/** Whether a text is nothing but links and images, as lines of badges and menus are. */
export function isOnlyLinks(markdown: string): boolean {
  const source = markdown.length > inlineLimit ? markdown.slice(0, inlineLimit) : markdown;
  if (!source.includes("](")) return false;
  const rest = readInline(source, true).replaceAll(/[\s|·•,&:*_/-]+/g, "");
  return rest.length < 4;
}

function readInline(source: string, withoutLinks = false): string {
  const cursor: Cursor = {
    source,
    partners: findPartners(source),
    openRuns: new Set(),
    hasClosingAngle: true,
    index: 0,
  };
  return readRange(cursor, source.length, withoutLinks);
}

function readRange(cursor: Cursor, end: number, withoutLinks: boolean): string {
  let text = "";
  while (cursor.index < end) {
    const character = cursor.source.charAt(cursor.index);
    const piece = readMark(cursor, character, end, withoutLinks);
    if (piece === undefined) {
      text += character;
      cursor.index += 1;
    } else {
      text += piece;
    }
  }
  return text;
}

/** The text of a mark at the cursor, which then stands behind it; undefined when there is none. */
function readMark(cursor: Cursor, character: string, end: number, withoutLinks: boolean): string | undefined {
  switch (character) {
    case "\\":
      return readEscape(cursor);
    case "`":
      return readCode(cursor, end);
    case "!":
      return cursor.source.charAt(cursor.index + 1) === "["
        ? readLink(cursor, cursor.index + 1, true, withoutLinks)
        : undefined;
    case "[":
      return readLink(cursor, cursor.index, false, withoutLinks);
    case "<":
      return readTag(cursor);
    case "&":
      return readEntity(cursor);
    case "*":
    case "_":
    case "~":
      return readEmphasis(cursor, character);
    default:
      return undefined;
  }
}

function readEscape(cursor: Cursor): string | undefined {
  const next = cursor.source.charAt(cursor.index + 1);
  if (!/[!-/:-@[-`{-~]/.test(next)) return undefined;
  cursor.index += 2;
  return next;
}

function readCode(cursor: Cursor, end: number): string {
  const { source } = cursor;
  const start = cursor.index;
  let length = 1;
  while (source.charAt(start + length) === "`") length += 1;
  cursor.index = start + length;
  if (cursor.openRuns.has(length)) return source.slice(start, cursor.index);
  const run = "`".repeat(length);
  let close = source.indexOf(run, cursor.index);
  while (close !== -1 && source.charAt(close + length) === "`") {
    while (source.charAt(close) === "`") close += 1;
    close = source.indexOf(run, close);
  }
  if (close === -1 || close + length > end) {
    cursor.openRuns.add(length);
    return run;
  }
  cursor.index = close + length;
  return source.slice(start, cursor.index);
}

function readLink(cursor: Cursor, open: number, isImage: boolean, withoutLinks: boolean): string | undefined {
  const { source, partners } = cursor;
  const close = partners[open] ?? -1;
  if (close === -1) return undefined;
  const label = source.slice(open + 1, close);
  if (label.startsWith("^") && !label.includes(" ")) {
    cursor.index = close + 1;
    return "";
  }
  let behind = close + 1;
  const opening = source.charAt(behind);
  const isInline = opening === "(" && (partners[behind] ?? -1) !== -1;
  const isReference = opening === "[" && (partners[behind] ?? -1) !== -1;
  if (!isInline && !isReference) {
    if (/^[ xX]$/.test(label)) {
      cursor.index = close + 1;
      return "";
    }
    return undefined;
  }
  behind = (partners[behind] ?? behind) + 1;
  if (isImage || (withoutLinks && isInline)) {
    cursor.index = behind;
    return "";
  }
  cursor.index = open + 1;
  const text = readRange(cursor, close, withoutLinks);
  cursor.index = behind;
  return text;
}

function readTag(cursor: Cursor): string | undefined {
  const { source, index } = cursor;
  if (!cursor.hasClosingAngle || !/[a-zA-Z/!]/.test(source.charAt(index + 1))) return undefined;
  const close = source.indexOf(">", index);
  if (close === -1) {
    cursor.hasClosingAngle = false;
    return undefined;
  }
  const content = source.slice(index + 1, close);
  // Comparisons such as `a <b` are no tags.
  if (content.length > 500 || content.includes("<")) return undefined;
  cursor.index = close + 1;
  if (/^[a-z][a-z+.-]{1,30}:\S+$/i.test(content) || /^\S{1,100}@\S{1,100}$/.test(content)) return content;
  return /^(?:br|p|\/p|div|\/div|li|\/li|td|\/td)\b/i.test(content) ? " " : "";
}

function readEntity(cursor: Cursor): string | undefined {
  const match = /^&(#\d{1,7}|[a-z]{2,8});/i.exec(cursor.source.slice(cursor.index, cursor.index + 12));
  const name = match?.[1];
  if (!match || name === undefined) return undefined;
  const text = name.startsWith("#") ? toCodePoint(Number(name.slice(1))) : entities[name.toLowerCase()];
  if (text === undefined) return undefined;
  cursor.index += match[0].length;
  return text;
}

function toCodePoint(code: number): string | undefined {
  return code > 31 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : undefined;
}

function readEmphasis(cursor: Cursor, character: string): string | undefined {
  const { source, index } = cursor;
  let end = index;
  while (source.charAt(end) === character) end += 1;
  const before = source.charAt(index - 1);
  const behind = source.charAt(end);
  const isBetweenBlanks = (before === "" || /\s/.test(before)) && (behind === "" || /\s/.test(behind));
  const isInWord = character === "_" && /[\p{L}\p{N}]/u.test(before) && /[\p{L}\p{N}]/u.test(behind);
  const isTilde = character === "~" && end - index !== 2;
  if (isBetweenBlanks || isInWord || isTilde) {
    cursor.index = end;
    return source.slice(index, end);
  }
  cursor.index = end;
  return "";
}

/** Matches brackets and parentheses in one pass; escaped ones do not count. */
function findPartners(source: string): Int32Array {
  const partners = new Int32Array(source.length).fill(-1);
  const brackets: number[] = [];
  const parentheses: number[] = [];
  for (let index = 0; index < source.length; index += 1) {
    const code = source.charCodeAt(index);
    if (code === 0x5c) index += 1;
    else if (code === 0x5b) brackets.push(index);
    else if (code === 0x28) parentheses.push(index);
    else if (code === 0x5d || code === 0x29) {
      const open = (code === 0x5d ? brackets : parentheses).pop();
      if (open !== undefined) partners[open] = index;
    }
  }
  return partners;
}
