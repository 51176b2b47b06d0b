/** The clauses of docs/formats as they stand there, and the references to them. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const root = join(import.meta.dirname, "../..");

const contracts = ["cli", "documents", "security-reliability"] as const;

type Contract = (typeof contracts)[number];

export interface Clause {
  readonly id: string;
  readonly document: Contract;
  /** Heading above the clause. */
  readonly section: string;
  /** Markdown of the clause with its lists, tables and examples. */
  readonly text: string;
}

/** A clause is an item of a list, a section with a heading, or a row of a table; its number is bold and comes first. */
const start = /^(- |#+ |\| )\*\*([A-Z]+-?\d+)\*\*/;

export function readClauses(): Clause[] {
  return contracts.flatMap((document) =>
    parseClauses(document, readFileSync(join(root, "docs/formats", `${document}.md`), "utf8")),
  );
}

export function parseClauses(document: Contract, markdown: string): Clause[] {
  const clauses: { id: string; section: string; lines: string[]; mark: string }[] = [];
  let section = "";
  let isOpen = false;
  let isFenced = false;
  for (const line of markdown.split("\n")) {
    const found = isFenced ? null : start.exec(line);
    const [, mark, id] = found ?? [];
    const open = isOpen ? clauses.at(-1) : undefined;
    if (mark && id) {
      if (mark.startsWith("#")) section = toHeading(line);
      clauses.push({ id, section, lines: [line], mark });
      isOpen = true;
    } else if (!isFenced && /^#+ /.test(line)) {
      section = toHeading(line);
      isOpen = false;
    } else if (open && (open.mark === "| " || (open.mark === "- " && /^[^\s]/.test(line)))) isOpen = false;
    else open?.lines.push(line);
    if (/^\s*(```|~~~)/.test(line)) isFenced = !isFenced;
  }
  return clauses.map(({ id, section: place, lines }) => ({
    id,
    document,
    section: place,
    text: lines.join("\n").trim(),
  }));
}

/** Changes with every word of a clause, and not with the breaks of its lines. */
export function hashOf({ text }: Clause): string {
  return createHash("sha256").update(text.replaceAll(/\s+/g, " ")).digest("hex").slice(0, 8);
}

/** Words of the sentences of a clause: tables and examples are for looking things up. */
export function countWords({ text }: Pick<Clause, "text">): number {
  const lines = removeExamples(text).split("\n");
  return countIn(lines.filter((line, at) => at === 0 || !/^\s*\|/.test(line)).join(" "));
}

/** Words of each row of its tables. */
export function countRowWords({ text }: Pick<Clause, "text">): number[] {
  const lines = removeExamples(text).split("\n").slice(1);
  return [0, ...lines.filter((line) => /^\s*\|/.test(line)).map(countIn)];
}

function removeExamples(text: string): string {
  return text.replaceAll(/^\s*(```|~~~)[^]*?^\s*\1.*$/gm, "").replaceAll(/<!-- from code[^]*?<!-- end -->/g, "");
}

function countIn(text: string): number {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

/** Numbers of clauses in a text. C0 is a set of control characters. */
export function findNumbers(text: string): string[] {
  return (text.match(/\b(?:[CNX]\d{1,3}|R\d{1,2}|[RS]-\d{2,3})\b/g) ?? []).filter((id) => id !== "C0");
}

/** Links of a Markdown file whose file or heading doesn't exist. */
export function findDeadLinks(path: string, markdown: string): string[] {
  const text = removeExamples(markdown).replaceAll(/`[^`\n]*`/g, "");
  const links = [...text.matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
  return links
    .filter(([, file, anchor]) => {
      const target = file ? join(dirname(path), file) : path;
      if (!existsSync(join(root, target))) return true;
      return (
        anchor !== undefined &&
        !readAnchors(target === path ? markdown : readFileSync(join(root, target), "utf8")).includes(anchor)
      );
    })
    .map(([link]) => link.slice(2, -1));
}

/**
 * Paths that a text names and that don't exist: from the root, from the agent's sources, or from the folder of the text.
 * Guides, decisions and the reference of Cursor name files of other projects, so their links alone are checked.
 */
export function findDeadPaths(path: string, text: string): string[] {
  if (/^docs\/(guide\/|decisions\/|reference\/cursor\.md)/.test(path)) return [];
  const code = path.endsWith(".md")
    ? [...text.matchAll(/`([^`\s]+)`/g)].map(([, word]) => word!)
    : (text.match(/\bdocs\/[\w/-]+\.md\b/g) ?? []);
  const named = code.filter((word) =>
    /^(?:(?:packages|docs|test|scripts|bench|deploy|examples)\/[\w./-]*\w\/?|[\w-]+(?:\/[\w-]+)+\.ts)$/.test(word),
  );
  const places = ["", "packages/agent/src", dirname(path)];
  return named.filter((word) => !word.includes("NAME") && !places.some((place) => existsSync(join(root, place, word))));
}

function readAnchors(markdown: string): string[] {
  const headings = markdown.replaceAll(/^(```|~~~)[^]*?^\1.*$/gm, "").match(/^#+ .*$/gm) ?? [];
  return headings.map((heading) => toAnchor(toHeading(heading)));
}

function toHeading(line: string): string {
  return line.replace(/^#+ /, "").replaceAll("**", "").trim();
}

/** The way in which GitHub names headings. */
export function toAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(/\s/g, "-");
}
