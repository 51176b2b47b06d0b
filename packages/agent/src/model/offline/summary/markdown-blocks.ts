/** The blocks of a Markdown or plain text, as far as a summary needs them. */
import { isOnlyLinks, toInlineText } from "./inline-text.ts";

export type Block =
  | { readonly type: "heading"; readonly depth: number; readonly text: string }
  | { readonly type: "paragraph"; readonly text: string; readonly isBold: boolean; readonly isQuote: boolean }
  | {
      readonly type: "item";
      readonly text: string;
      readonly depth: number;
      readonly isBold: boolean;
      readonly isLink: boolean;
    }
  | { readonly type: "code"; readonly language: string; readonly lines: readonly string[] }
  | { readonly type: "table"; readonly header: readonly string[]; readonly rows: number };

export interface ParsedText {
  readonly blocks: readonly Block[];
  /** `title` and `description` of front matter. */
  readonly frontTitle?: string;
  readonly frontDescription?: string;
}

/** Text of one block that is kept; the rest of it is only counted. */
const blockLimit = 4000;

interface Parser {
  readonly lines: readonly string[];
  readonly blocks: Block[];
  index: number;
  paragraph: string[];
  isQuote: boolean;
}

const heading = /^ {0,3}(#{1,6})(?:\s+(.*))?$/;
const item = /^(\s{0,20})(?:[-*+•・‧]|\d{1,9}[.)、]|[(（]\d{1,2}[)）])\s+(\S.*)$/u;
const fence = /^ {0,3}(`{3,}|~{3,})(.*)$/;
const rule = /^ {0,3}(?:-[ -]{2,}|\*[ *]{2,}|_[ _]{2,})$/;
const delimiterRow = /^[\s|:-]{3,2000}$/;
const linkDefinition = /^ {0,3}\[[^\]]{1,300}\]:\s/;

/** Line by line, without looking back: linear. */
export function parseBlocks(lines: readonly string[]): ParsedText {
  const front = readFrontMatter(lines);
  const parser: Parser = { lines, blocks: [], index: front.end, paragraph: [], isQuote: false };
  while (parser.index < lines.length) readLine(parser);
  endParagraph(parser);
  return {
    blocks: parser.blocks,
    ...(front.title !== undefined && { frontTitle: front.title }),
    ...(front.description !== undefined && { frontDescription: front.description }),
  };
}

function readFrontMatter(lines: readonly string[]): { end: number; title?: string; description?: string } {
  if (lines[0]?.trimEnd() !== "---") return { end: 0 };
  const end = lines.slice(1, 200).findIndex((line) => /^(?:---|\.\.\.)\s*$/.test(line));
  if (end === -1) return { end: 0 };
  const valueOf = (key: string): string | undefined => {
    const line = lines.slice(1, end + 1).find((candidate) => candidate.toLowerCase().startsWith(`${key}:`));
    const value = line
      ?.slice(key.length + 1)
      .trim()
      .replace(/^(["'])(.*)\1$/, "$2");
    return value === undefined || value === "" || /^[|>]/.test(value) ? undefined : value;
  };
  const title = valueOf("title") ?? valueOf("name");
  const description = valueOf("description") ?? valueOf("summary");
  return { end: end + 2, ...(title !== undefined && { title }), ...(description !== undefined && { description }) };
}

function readLine(parser: Parser): void {
  const line = parser.lines[parser.index] ?? "";
  const start = toFirstCharacter(line);
  if (start === -1) {
    endParagraph(parser);
    parser.index += 1;
    return;
  }
  if (start < 4 && isLetter(line.charCodeAt(start)) && !line.includes("|")) {
    parser.index += 1;
    parser.paragraph.push(line);
    return;
  }
  const isRead =
    readFence(parser, line) ||
    readComment(parser, line) ||
    readHeading(parser, line) ||
    readTable(parser, line) ||
    readIndentedCode(parser, line) ||
    readItem(parser, line);
  if (isRead) return;
  parser.index += 1;
  if (linkDefinition.test(line)) return;
  const quote = /^ {0,3}>\s?(.*)$/.exec(line);
  if (quote) {
    const content = quote[1] ?? "";
    if (parser.paragraph.length === 0) parser.isQuote = true;
    // `> [!NOTE]` heads an alert.
    if (content.trim() === "") endParagraph(parser);
    else if (!/^\[![A-Z]{3,10}\]\s*$/.test(content.trim())) parser.paragraph.push(content);
    return;
  }
  parser.paragraph.push(line);
}

/** Offset of the first character that is no blank; -1 without one. */
function toFirstCharacter(line: string): number {
  for (let index = 0; index < line.length; index += 1) {
    const code = line.charCodeAt(index);
    if (code > 0x20 && code !== 0xa0 && code !== 0x3000) return index;
  }
  return -1;
}

/** A line that begins so is always part of a paragraph. */
function isLetter(code: number): boolean {
  return (
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x61 && code <= 0x7a) ||
    (code >= 0xc0 && code < 0x2000) ||
    (code >= 0x3040 && code <= 0x9fff)
  );
}

function readFence(parser: Parser, line: string): boolean {
  const open = fence.exec(line);
  const mark = open?.[1];
  const info = open?.[2] ?? "";
  if (mark === undefined || (mark.startsWith("`") && info.includes("`"))) return false;
  endParagraph(parser);
  const lines: string[] = [];
  parser.index += 1;
  while (parser.index < parser.lines.length) {
    const next = parser.lines[parser.index] ?? "";
    parser.index += 1;
    const close = next.trim();
    if (close.length >= mark.length && close === mark.charAt(0).repeat(close.length)) break;
    lines.push(next);
  }
  parser.blocks.push({ type: "code", language: toFirstWord(info), lines });
  return true;
}

function toFirstWord(info: string): string {
  return /^[^\s{]{1,40}/.exec(info.trim())?.[0].toLowerCase() ?? "";
}

/** Skips HTML comments; what stands before and behind them stays. */
function readComment(parser: Parser, line: string): boolean {
  if (!line.trimStart().startsWith("<!--")) return false;
  endParagraph(parser);
  while (parser.index < parser.lines.length) {
    const current = parser.lines[parser.index] ?? "";
    parser.index += 1;
    const end = current.indexOf("-->");
    if (end === -1) continue;
    const rest = current.slice(end + 3).trim();
    if (rest !== "") parser.paragraph.push(rest);
    return true;
  }
  return true;
}

function readHeading(parser: Parser, line: string): boolean {
  const atx = heading.exec(line);
  if (atx) {
    endParagraph(parser);
    parser.index += 1;
    pushHeading(parser, atx[1]?.length ?? 1, (atx[2] ?? "").trimEnd().replace(/\s#{1,6}$/, ""));
    return true;
  }
  const html = /^\s{0,8}<h([1-6])\b[^>]{0,300}>(.{0,500}?)(?:<\/h\1>\s*)?$/i.exec(line);
  if (html) {
    endParagraph(parser);
    parser.index += 1;
    pushHeading(parser, Number(html[1]), html[2] ?? "");
    return true;
  }
  const [first] = parser.paragraph;
  const isUnderline = /^ {0,3}(?:={2,}|-{3,})\s*$/.test(line);
  if (isUnderline && first !== undefined && parser.paragraph.length === 1 && !parser.isQuote && first.length <= 200) {
    parser.paragraph = [];
    parser.index += 1;
    pushHeading(parser, line.includes("=") ? 1 : 2, first);
    return true;
  }
  if (!rule.test(line)) return false;
  endParagraph(parser);
  parser.index += 1;
  return true;
}

function pushHeading(parser: Parser, depth: number, markdown: string): void {
  const text = toInlineText(markdown);
  if (text !== "") parser.blocks.push({ type: "heading", depth, text });
}

function readTable(parser: Parser, line: string): boolean {
  const next = parser.lines[parser.index + 1] ?? "";
  if (!line.includes("|") || !next.includes("-") || !next.includes("|") || !delimiterRow.test(next)) return false;
  endParagraph(parser);
  const header = toCells(line);
  parser.index += 2;
  let rows = 0;
  while ((parser.lines[parser.index] ?? "").includes("|")) {
    rows += 1;
    parser.index += 1;
  }
  parser.blocks.push({ type: "table", header, rows });
  return true;
}

function toCells(line: string): string[] {
  return line
    .slice(0, blockLimit)
    .trim()
    .replace(/^\||\|$/g, "")
    .split("|")
    .map(toInlineText)
    .filter((cell) => cell !== "");
}

/** Four blanks behind an empty line, not under a list. */
function readIndentedCode(parser: Parser, line: string): boolean {
  if (
    !/^(?: {4}|\t)/.test(line) ||
    parser.paragraph.length > 0 ||
    parser.blocks.at(-1)?.type === "item" ||
    item.test(line)
  )
    return false;
  const lines: string[] = [];
  while (parser.index < parser.lines.length) {
    const next = parser.lines[parser.index] ?? "";
    if (!/^(?: {4}|\t)/.test(next)) break;
    lines.push(next.replace(/^(?: {4}|\t)/, ""));
    parser.index += 1;
  }
  parser.blocks.push({ type: "code", language: "", lines });
  return true;
}

function readItem(parser: Parser, line: string): boolean {
  const match = item.exec(line);
  if (!match) return false;
  endParagraph(parser);
  const indent = (match[1] ?? "").replaceAll("\t", "    ").length;
  const parts = [match[2] ?? ""];
  parser.index += 1;
  while (parser.index < parser.lines.length) {
    const next = parser.lines[parser.index] ?? "";
    if (
      next.trim() === "" ||
      item.test(next) ||
      heading.test(next) ||
      fence.test(next.trimStart()) ||
      !/^\s/.test(next)
    )
      break;
    parts.push(next.trim());
    parser.index += 1;
  }
  const markdown = joinLines(parts);
  const text = toInlineText(markdown);
  if (text === "") return true;
  const isBold = markdown.startsWith("**") || markdown.startsWith("__");
  parser.blocks.push({ type: "item", text, depth: Math.floor(indent / 2), isBold, isLink: isOnlyLinks(markdown) });
  return true;
}

function endParagraph(parser: Parser): void {
  if (parser.paragraph.length === 0) return;
  const markdown = joinLines(parser.paragraph);
  const isQuote = parser.isQuote;
  parser.paragraph = [];
  parser.isQuote = false;
  if (isOnlyLinks(markdown)) return;
  const text = toInlineText(markdown);
  if (text !== "") parser.blocks.push({ type: "paragraph", text, isBold: markdown.includes("**"), isQuote });
}

/** Chinese and Japanese lines are joined without a blank. */
function joinLines(lines: readonly string[]): string {
  let text = "";
  for (const line of lines) {
    if (text.length > blockLimit) break;
    const next = line.trim();
    const isTight = isWide(text.charAt(text.length - 1)) && isWide(next.charAt(0));
    text += text === "" || isTight ? next : ` ${next}`;
  }
  return text;
}

/** Kana, Han characters and full-width punctuation. */
function isWide(character: string): boolean {
  const code = character.charCodeAt(0);
  return (code >= 0x3000 && code <= 0x9fff) || (code >= 0xff00 && code <= 0xffef);
}
