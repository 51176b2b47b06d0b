/** Makes summaries from a text's own sentences: its title, first sentences, headings and sizes. */
import { removeLineNumbers } from "@sheaf/base/files/numbered-lines";
import { toFence } from "@sheaf/base/to-fence";
import type { Outcome } from "./conversation.ts";
import type { Language } from "./instruction.ts";

/** Matches the notes that `read_file` adds to the text of a file. */
const notes = /\n?(?:Lines? \d+ (?:to|of) \d+.*|The file is empty\.|These are the cells of a notebook\..*)\n*$/;

/** Returns the text of a `read_file` result without line numbers, and the tool's note about missing lines. */
export function toSource({ output, args }: Outcome): Record<"path" | "text" | "note", string> {
  const [note = ""] = notes.exec(output) ?? [];
  const shown = output.slice(0, output.length - note.length);
  return { path: String(args["target_file"]), text: removeLineNumbers(shown) ?? shown, note: note.trim() };
}

/** Formats a summary as Markdown. The name decides if the text is prose. */
export function formatSummary({ sections }: Language, text: string, name: string): string {
  const isProse = /(?:^|\/)[^./]+$|\.(?:md|mdx|rst|adoc|txt|log)$/i.test(name);
  const { paragraphs, commands, outline } = readLines(isProse ? text : "");
  const bodies = [
    toFirstSentences(paragraphs).join("\n\n"),
    commands.length > 0 ? formatFence(commands.join("\n"), "sh") : "",
    outline.map((item) => `- ${item}`).join("\n"),
  ];
  const parts = sections.split("|").map((label, at) => bodies[at] && `## ${label}\n\n${bodies[at]}`);
  return joinParts(outline[0] === undefined ? "" : `**${outline[0]}**`, ...parts);
}

/** Formats the sizes, such as `lines: 54, characters: 1254, headings: 3`. */
export function formatCounts({ counts }: Language, text: string): string {
  const lines = text.split("\n").length - (/\n$|^$/.test(text) ? 1 : 0);
  return fill(counts, lines, text.length, text.match(/^#{1,6} /gm)?.length ?? 0);
}

/** Reads only the start of a long text and of long lines, so that its time is bounded (S-72). */
function readLines(text: string): Readonly<Record<"paragraphs" | "commands" | "outline", string[]>> {
  const outline: string[] = [];
  const commands: string[] = [];
  const paragraphs: string[] = [""];
  let end: RegExp | undefined;
  let isShell = false;
  const body = text.slice(0, 400_000).replace(/^---\r?\n[^]*?\n---\r?\n/, "");
  for (const line of body.split("\n").map((whole) => whole.slice(0, 2000).trimEnd())) {
    if (end) {
      if (end.test(line)) end = undefined;
      else if (isShell && commands.length < 20) commands.push(line.replace(/^\$ /, ""));
      continue;
    }
    const fence = /^\s{0,3}(`{3,}|~{3,})\s*(\w*)/.exec(line);
    isShell = commands.length === 0 && /^(?:sh|bash|zsh|shell|console)$/.test(fence?.[2] ?? "");
    if (fence) end = new RegExp(`^\\s{0,3}${fence[1]}`);
    else if (line.includes("<!--") && !line.includes("-->")) end = /-->/;
    const title = /^(?:#{1,6}\s+|<h[1-6][^>]*>)(\S[^<]*)/.exec(line)?.[1];
    if (title !== undefined && outline.length < 20) outline.push(toPlainText(title));
    if (!end && title === undefined && /^\s*(?![-+|>=<]|\*\s|\d{1,3}[.)]\s)\S/.test(line))
      paragraphs.push(`${paragraphs.pop()} ${line}`);
    else if (paragraphs.at(-1) !== "" && paragraphs.length < 100) paragraphs.push("");
  }
  return { paragraphs, commands, outline };
}

/** Returns the first sentences of two paragraphs. A paragraph with a sentence has priority. */
function toFirstSentences(paragraphs: readonly string[]): string[] {
  const texts = paragraphs.map(toPlainText).filter((text) => text !== "");
  const sentences = texts.filter((text) => /[.!?:。！？：]/.test(text));
  return (sentences.length > 0 ? sentences : texts).slice(0, 2).map((text) => {
    const cut = text.slice(0, 400);
    const end = Math.max(...["。", ". ", "! ", "? "].map((mark) => cut.lastIndexOf(mark)));
    const shown = text === cut || end <= 0 ? cut : text.slice(0, end + 1);
    // A line of the source must not become a heading, a fence or a list.
    return /^(?:#{1,6}\s|>|[-*+]\s|\d{1,9}[.)]\s|`{3}|~{3}|\|)/.test(shown) ? `\\${shown}` : shown;
  });
}

/** Returns the text of Markdown without images, link targets, emphasis and tags, on one line. */
function toPlainText(text: string): string {
  const noise = /!\[[^\]]{0,200}\]\([^)]{0,500}\)|<\/?[a-z][^<>]{0,300}>|\*\*/gi;
  const words = text
    .slice(0, 4000)
    .replaceAll(noise, "")
    .replaceAll(/\[([^[\]]{0,300})\]\([^)]{0,500}\)/g, "$1");
  return words.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
}

export function joinParts(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part).join("\n\n");
}

/** Fills the places `{0}` and `{1}` of a phrase. */
export function fill(phrase: string, ...values: readonly (string | number)[]): string {
  return phrase.replaceAll(/\{(\d)\}/g, (_, place: string) => String(values[Number(place)] ?? ""));
}

/** Formats a list as `a, b and c`. */
export function formatList({ and }: Language, entries: readonly string[]): string {
  const before = entries.slice(0, -1).join(", ");
  return before + (before === "" ? "" : and) + (entries.at(-1) ?? "");
}

/** Formats one line of Markdown code, safe with backticks inside. */
export function formatCode(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  const fence = toFence(line, 1);
  const pad = /^`|`$|^$/.test(line) ? " " : "";
  return fence + pad + line + pad + fence;
}

/** Formats a fenced block with a fence longer than any inside (N16). */
export function formatFence(content: string, info: string): string {
  const fence = toFence(content);
  return `${fence}${info}\n${content.replace(/\r?\n$/, "")}\n${fence}`;
}
