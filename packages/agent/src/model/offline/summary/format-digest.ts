/** A digest in the words of a language, as Markdown. */
import { toCode } from "../phrases/format-number.ts";
import type { Phrases } from "../phrases/phrases.ts";
import type { Digest, DigestEntry, DigestSection } from "./digest.ts";

/** The parts of a summary below its title, without its counts. */
export function formatDigest(digest: Digest, phrases: Phrases, source: string, depth: number): string {
  const parts: string[] = [];
  const heading = "#".repeat(depth);
  const push = (label: string, body: string): void => void parts.push(`${heading} ${label}\n\n${body}`);
  const { labels } = phrases;

  if (digest.invalidJson !== undefined) parts.push(phrases.invalidJson(digest.invalidJson));
  if (digest.title !== undefined && digest.title !== source) parts.push(`**${toPlainLine(digest.title)}**`);
  if (digest.purpose.length > 0) push(labels.purpose, digest.purpose.map(toParagraph).join("\n\n"));
  if (digest.points.length > 0) push(labels.points, digest.points.map((point) => `- ${toPlainLine(point)}`).join("\n"));
  for (const section of digest.sections) push(labels[section.label], formatSection(section, phrases));
  if (digest.commands.length > 0) push(labels.commands, formatCommands(digest.commands));
  if (digest.outline.length > 0) {
    push(
      labels.outline,
      digest.outline.map(({ depth: level, text }) => `${"  ".repeat(level)}- ${toPlainLine(text)}`).join("\n"),
    );
  }
  if (isBare(digest)) parts.push(phrases.nothingToSummarise(source));
  if (digest.isSampled) parts.push(phrases.cutNote);
  if (digest.readLines) parts.push(phrases.partlyRead(source, digest.readLines.read, digest.readLines.total));
  return parts.join("\n\n");
}

/** `54 lines, 1,254 characters`. */
export function formatCounts(digest: Digest, phrases: Phrases): string {
  const counts = digest.counts.map(
    ({ unit, count, note }) => phrases.count(count, unit) + (note === undefined ? "" : ` (${note})`),
  );
  return counts.length > 0 ? counts.join(phrases.separator) : phrases.count(0, "lines");
}

function isBare(digest: Digest): boolean {
  return [digest.purpose, digest.points, digest.outline, digest.commands, digest.sections].every(
    ({ length }) => length === 0,
  );
}

/** Short lists of bare names share a line. */
function formatSection({ entries, more }: DigestSection, phrases: Phrases): string {
  const isBareList = entries.every(({ note, line, isCode }) => isCode && note === undefined && line === undefined);
  const rest = more > 0 ? [phrases.more(more)] : [];
  if (isBareList) return [...entries.map((entry) => toCode(entry.text)), ...rest].join(phrases.separator);
  return [...entries.map((entry) => formatEntry(entry, phrases)), ...rest].map((line) => `- ${line}`).join("\n");
}

function formatEntry({ text, isCode, note, line }: DigestEntry, phrases: Phrases): string {
  const name = isCode ? toCode(text) : toPlainLine(text);
  const place = line === undefined ? "" : ` (${phrases.line(line)})`;
  return `${name}${place}${note === undefined || note === "" ? "" : `: ${toPlainLine(note)}`}`;
}

/** A fence that no line of the commands can close. */
function formatCommands(commands: readonly string[]): string {
  return `\`\`\`sh\n${commands.join("\n")}\n\`\`\``;
}

/** A line of the source must not become a heading, a fence or a list of ours. */
function toParagraph(text: string): string {
  const line = toPlainLine(text);
  return /^(?:#{1,6}\s|>|[-*+]\s|\d{1,9}[.)]\s|`{3}|~{3}|\|)/.test(line) ? `\\${line}` : line;
}

function toPlainLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
}
