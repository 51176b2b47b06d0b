/** Searches, lists and quotations. */
import { formatFailure, parseFailure } from "./failure.ts";
import { parseTree, splitTreeNote, toTopFiles, toTopFolders } from "./folder-tree.ts";
import type { FindFilesIntent, FindTextIntent, ShowIntent } from "./intent.ts";
import { toCode } from "./phrases/format-number.ts";
import type { Phrases } from "./phrases/phrases.ts";
import { parseReadOutput } from "./read-output.ts";
import {
  argumentOf,
  lastOutcomeOf,
  listCall,
  outcomesOf,
  readCall,
  toAnswer,
  toCalls,
  toSilentCalls,
  toFence,
  type PlannedCall,
  type Step,
} from "./step.ts";
import { findSimilar, parseFileLines } from "./step-summary.ts";
import type { Outcome, Task } from "./task.ts";

const shownHits = 40;
const shownFiles = 60;
const shownLines = 300;

export function toFindTextStep(task: Task, intent: FindTextIntent, phrases: Phrases): Step {
  const searches = outcomesOf(task, "grep_search");
  const isDefinition = intent.isDefinition === true && /^[\p{L}_$][\p{L}\p{N}_$.]*$/u.test(intent.term);
  const [first, second] = searches;
  if (!first) return toCalls(phrases.announce("search", intent.term), toGrep(intent, isDefinition));
  const latest = second ?? first;
  if (latest.isError)
    return toAnswer(`${phrases.introduction}\n\n${formatFailure(phrases, "search", intent.term, latest)}`);
  const hits = parseHits(latest.output);
  const total = Math.max(
    hits.length,
    Number(/^The first \d{1,9} of (\d{1,9}) matching lines/m.exec(latest.output.slice(-600))?.[1] ?? 0),
  );
  if (hits.length === 0 && isDefinition && !second) return toSilentCalls(toGrep(intent, false));
  if (hits.length === 0) return toAnswer(`${phrases.introduction}\n\n${phrases.noHits(intent.term, intent.folder)}`);
  return toAnswer(
    formatHits(hits, total, intent, isDefinition ? (second ? "mentions" : "definitions") : "hits", phrases),
  );
}

function toGrep({ term, folder, glob }: FindTextIntent, isDefinition: boolean): PlannedCall {
  const literal = term.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const name = literal.split(String.raw`\.`).at(-1) ?? literal;
  const before = String.raw`(function\*?|class|const|let|var|interface|type|enum|def|fn|func|struct|trait|module|namespace|macro_rules!|#define)\s+`;
  return {
    toolName: "grep_search",
    args: {
      pattern: isDefinition ? `${before}${name}\\b` : literal,
      ...(folder !== undefined && folder !== "." && { path: folder }),
      ...(glob !== undefined && { glob }),
      // Words in lower case are looked for in any case.
      ...(!isDefinition && term === term.toLowerCase() && term !== term.toUpperCase() && { case_insensitive: true }),
    },
  };
}

interface Hit {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** `path:12:text`, or a path on a line of its own with `12:text` below it. */
function parseHits(output: string): Hit[] {
  const hits: Hit[] = [];
  let heading = "";
  for (const line of output.split("\n", 5000)) {
    const grouped = /^\s{0,8}(?:line\s)?(\d{1,9})[:|]\s?(.*)$/i.exec(line);
    if (grouped && heading !== "") {
      hits.push({ path: heading, line: Number(grouped[1]), text: grouped[2] ?? "" });
      continue;
    }
    const flat = /^(.{1,400}?):(\d{1,9})[:-](.*)$/.exec(line);
    if (flat) {
      hits.push({ path: flat[1] ?? "", line: Number(flat[2]), text: flat[3] ?? "" });
      continue;
    }
    const name = line.trim().replace(/:$/, "");
    heading = name !== "" && !/\s\s|[.!]$/.test(name) && name.length < 400 ? name : "";
  }
  return hits;
}

function formatHits(
  hits: readonly Hit[],
  total: number,
  { term }: FindTextIntent,
  found: "hits" | "definitions" | "mentions",
  phrases: Phrases,
): string {
  const files = new Set(hits.map(({ path }) => path)).size;
  const heads = {
    hits: phrases.hits(total, files, term),
    definitions: phrases.definitions(total, term),
    mentions: phrases.noDefinition(term),
  };
  const lines = hits
    .slice(0, shownHits)
    .map(({ path, line, text }) => `- ${toCode(`${path}:${line}`)} ${toCode(text.trim().slice(0, 200))}`);
  if (total > shownHits) lines.push(`- ${phrases.more(total - shownHits)}`);
  return `${phrases.introduction}\n\n${heads[found]}\n\n${lines.join("\n")}`;
}

export function toFindFilesStep(task: Task, intent: FindFilesIntent, phrases: Phrases): Step {
  const found = lastOutcomeOf(task, "glob_search");
  if (!found) {
    const { pattern, folder } = intent;
    const args = { pattern, ...(folder !== undefined && folder !== "." && { target_directory: folder }) };
    return toCalls(phrases.announce("search", pattern), { toolName: "glob_search", args });
  }
  if (found.isError)
    return toAnswer(`${phrases.introduction}\n\n${formatFailure(phrases, "search", intent.pattern, found)}`);
  const files = parseFileLines(found.output);
  const total = Math.max(
    files.length,
    Number(/^The first \d{1,9} of (\d{1,9}) files are shown/m.exec(found.output.slice(-400))?.[1] ?? 0),
  );
  if (files.length === 0) return toAnswer(`${phrases.introduction}\n\n${phrases.noFiles(intent.pattern)}`);
  const lines = files.slice(0, shownFiles).map((path) => `- ${toCode(path)}`);
  if (total > shownFiles) lines.push(`- ${phrases.more(total - shownFiles)}`);
  return toAnswer(`${phrases.introduction}\n\n${phrases.foundFiles(total, intent.pattern)}\n\n${lines.join("\n")}`);
}

export function toListStep(task: Task, folder: string, phrases: Phrases): Step {
  const listed = lastOutcomeOf(task, "list_dir");
  if (!listed) return toCalls(phrases.announce("list", folder), listCall(folder));
  if (listed.isError) return toAnswer(`${phrases.introduction}\n\n${formatFailure(phrases, "list", folder, listed)}`);
  const entries = parseTree(listed.output);
  if (entries.length === 0) return toAnswer(`${phrases.introduction}\n\n${phrases.emptyFolder(folder)}`);
  const head = phrases.folderContents(folder, toTopFolders(entries).length, toTopFiles(entries).length);
  const { tree, note } = splitTreeNote(listed.output);
  const lines = tree.split("\n");
  const shown =
    lines.length > shownLines ? [...lines.slice(0, shownLines), phrases.more(lines.length - shownLines)] : lines;
  return toAnswer(
    `${phrases.introduction}\n\n${head}\n\n${toFence(shown.join("\n"), "text")}${note === "" ? "" : `\n\n> ${note}`}`,
  );
}

export function toShowStep(task: Task, intent: ShowIntent, phrases: Phrases): Step {
  const reads = outcomesOf(task, "read_file");
  const { startLine, endLine, paths } = intent;
  if (reads.length === 0) {
    const lines = startLine === undefined ? {} : { offset: startLine, limit: (endLine ?? startLine) - startLine + 1 };
    return toCalls(phrases.announce("read", phrases.list(paths)), ...paths.map((path) => readCall(path, lines)));
  }
  const [first] = reads;
  if (intent.isGuessed && reads.length === 1 && first?.isError && task.tools.has("list_dir")) {
    const listed = lastOutcomeOf(task, "list_dir");
    if (!listed) return toSilentCalls(listCall("."));
    const other = listed.isError
      ? undefined
      : findSimilar(toTopFiles(parseTree(listed.output)), argumentOf(first, "target_file"));
    if (other !== undefined) return toSilentCalls(readCall(other));
  }
  const shown = intent.isGuessed ? reads.slice(-1) : reads;
  return toAnswer([phrases.introduction, ...shown.map((read) => formatQuotation(read, intent, phrases))].join("\n\n"));
}

/** The lines in a fence with `start:end:path`, which makes a code reference of them (N19). */
function formatQuotation(read: Outcome, intent: ShowIntent, phrases: Phrases): string {
  const path = argumentOf(read, "target_file");
  if (read.isError) {
    if (parseFailure(read.output).code === "OFFSET_OUT_OF_RANGE") return phrases.beyondEnd(path, intent.startLine ?? 1);
    return formatFailure(phrases, "read", path, read);
  }
  const { text, startLine, totalLines } = parseReadOutput(read);
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  if (lines.length === 0) return phrases.emptySource(toCode(path));
  const wanted = intent.endLine === undefined ? shownLines : Math.min(shownLines, intent.endLine - startLine + 1);
  const from = intent.lastLines === undefined ? 0 : Math.max(0, lines.length - Math.min(intent.lastLines, shownLines));
  const shown = lines.slice(from, from + wanted);
  const start = startLine + from;
  const end = start + shown.length - 1;
  const total = totalLines ?? startLine + lines.length - 1;
  const isAsked = intent.endLine !== undefined || intent.lastLines !== undefined;
  const isPart = !isAsked && shown.length < total;
  const quotation = toFence(shown.join("\n"), `${start}:${end}:${path}`);
  return [
    phrases.showing(path, start, end),
    quotation,
    ...(isPart ? [phrases.shownPart(shown.length, total)] : []),
  ].join("\n\n");
}
