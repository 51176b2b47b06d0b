/** Summaries: title, first sentences, headings and counts of a text. Nothing in them is invented. */
import type { Language } from "./languages/english.ts";
import { fill, formatCode, formatFence, formatItems } from "./phrasing.ts";
import { toExtension } from "./prompt.ts";
import { toLines } from "./tool-results.ts";

/** Only the beginning of a long text is read, so that the time is bounded (S-72). */
const textLimit = 400_000;
const columnLimit = 2000;
const outlineLimit = 20;
const proseExtensions = new Set(["", "md", "mdx", "rst", "adoc", "txt", "log", "csv", "tsv"]);
const heading = /^(?:#{1,6}\s+|<h[1-6][^>]*>)(\S[^<]*)/;
const declaration =
  /^(?:export |pub |public |default |abstract |async )*(?:function\*?|class|interface|type|const|enum|def|fn|func|struct|trait) +([\w$]+)|^ {2}("[^"]+": *[^{[]{0,200})|^\+\+\+ b\/(.+)/;
const listOrTable = /^\s*(?:[-+|>=<]|\*\s|\d{1,3}[.)]\s)/;

/** A summary as Markdown. The ending of `name` decides how the text is read. */
export function formatSummary(language: Language, text: string, name: string): string {
  const isProse = proseExtensions.has(toExtension(name)) && !text.startsWith("diff --git ");
  const { paragraphs, commands, outline } = readLines(text, isProse);
  const { purpose, commands: commandsLabel, outline: outlineLabel } = language.phrases;
  const sections = [
    [purpose, toFirstSentences(paragraphs).map(toParagraph).join("\n\n")],
    [commandsLabel, commands.length > 0 ? formatFence(commands.join("\n"), "sh") : ""],
    [outlineLabel, formatItems(language, outline, outlineLimit)],
  ] as const;
  const parts = sections.flatMap(([label, body]) => (body === "" ? [] : [`## ${label}\n\n${body}`]));
  return [...(isProse ? outline.slice(0, 1).map((title) => `**${title}**`) : []), ...parts].join("\n\n");
}

/** `lines: 54, characters: 1,254, headings: 3`. */
export function formatCounts(language: Language, text: string): string {
  const counts = [toLines(text).length, text.length, text.match(/^#{1,6} /gm)?.length ?? 0];
  return fill(language.phrases.counts, ...counts);
}

/** Line by line, so that a comment or block without an end costs no more than its lines. */
function readLines(text: string, isProse: boolean): Readonly<Record<"paragraphs" | "commands" | "outline", string[]>> {
  const outline: string[] = [];
  const commands: string[] = [];
  const paragraphs: string[] = [""];
  let end: RegExp | undefined;
  let isShell = false;
  toLines(text.slice(0, textLimit)).forEach((whole, index) => {
    const line = whole.slice(0, columnLimit);
    if (end) {
      if (end.test(line)) end = undefined;
      else if (isShell && commands.length < outlineLimit) commands.push(line.replace(/^\$ /, ""));
      return;
    }
    const fence = /^\s{0,3}(`{3,}|~{3,})\s*(\w*)/.exec(line);
    isShell = commands.length === 0 && /^(?:sh|bash|zsh|shell|console)$/.test(fence?.[2] ?? "");
    if (fence) end = new RegExp(`^\\s{0,3}${fence[1]}`);
    else if (index === 0 && line === "---") end = /^---$/;
    else if (line.includes("<!--") && !line.includes("-->")) end = /-->/;
    const title = isProse ? heading.exec(line)?.[1] : undefined;
    const [, ...names] = declaration.exec(line) ?? [];
    if (title !== undefined) outline.push(toPlainText(title));
    else outline.push(...names.filter((name) => name !== undefined).map(formatCode));
    const isText = !end && title === undefined && line.trim() !== "" && !listOrTable.test(line);
    if (isText && isProse) paragraphs.push(`${paragraphs.pop()} ${line}`);
    else if (paragraphs.at(-1) !== "" && paragraphs.length < 100) paragraphs.push("");
  });
  return { paragraphs, commands, outline };
}

/** The beginnings of two paragraphs, of those with sentences if there are any. */
function toFirstSentences(paragraphs: readonly string[]): string[] {
  const texts = paragraphs.map(toPlainText).filter((text) => text !== "");
  const sentences = texts.filter((text) => /[.!?:。！？：]/.test(text));
  return (sentences.length > 0 ? sentences : texts).slice(0, 2).map((text) => {
    const cut = text.slice(0, 400);
    const end = Math.max(...["。", ". ", "! ", "? "].map((mark) => cut.lastIndexOf(mark)));
    return text === cut || end <= 0 ? cut : text.slice(0, end + 1);
  });
}

/** Markdown without images, link targets, emphasis and tags, on one line. */
function toPlainText(text: string): string {
  return text
    .slice(0, 4000)
    .replaceAll(/!\[[^\]]{0,200}\]\([^)]{0,500}\)|<\/?[a-z][^<>]{0,300}>|\*\*/gi, "")
    .replaceAll(/\[([^[\]]{0,300})\]\([^)]{0,500}\)/g, "$1")
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim();
}

/** A line of the source must not become a heading, a fence or a list. */
function toParagraph(text: string): string {
  return /^(?:#{1,6}\s|>|[-*+]\s|\d{1,9}[.)]\s|`{3}|~{3}|\|)/.test(text) ? `\\${text}` : text;
}
