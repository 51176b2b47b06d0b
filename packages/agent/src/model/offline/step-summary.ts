/** Summaries: read, then write a file or answer. */
import { formatFailure } from "./failure.ts";
import { parseTree, toTopFiles } from "./folder-tree.ts";
import type { SummariseIntent } from "./intent.ts";
import { toBaseName } from "./mention.ts";
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
  type PlannedCall,
  type Step,
} from "./step.ts";
import { createDigest } from "./summary/create-digest.ts";
import { toLines } from "./summary/digest.ts";
import { formatCounts, formatDigest } from "./summary/format-digest.ts";
import type { Outcome, Task } from "./task.ts";

/** Files that a pattern brings in. */
const globLimit = 8;

/** A text to summarise. */
interface Source {
  /** As the user sees it. */
  readonly name: string;
  /** Undefined for a text without a name. */
  readonly path?: string;
  readonly text: string;
  readonly totalLines?: number;
}

export function toSummaryStep(task: Task, intent: SummariseIntent, phrases: Phrases): Step {
  if (intent.context !== undefined && intent.sources.length === 0) {
    return toSummaryResult(task, intent, [{ name: phrases.pipedText, text: intent.context }], [], phrases);
  }
  const wanted = toWantedFiles(task, intent);
  if (wanted === undefined) return toGlobStep(intent, phrases);
  if (wanted.length === 0) return toAnswer(`${phrases.introduction}\n\n${phrases.noFiles(intent.glob ?? "")}`);
  const reads = outcomesOf(task, "read_file");
  if (reads.length === 0) return toReadStep(intent, wanted, phrases);
  const retry = toGuessStep(task, intent, reads);
  if (retry) return retry;

  const isRetried = intent.isGuessed === true && reads.length > 1;
  const done = isRetried ? reads.slice(-1) : reads;
  const failed = done.filter(({ isError }) => isError);
  const sources = done.filter(({ isError }) => !isError).map(toSource);
  return toSummaryResult(task, intent, sources, failed, phrases);
}

/** The named files, and those that a pattern found; undefined before it was looked for. */
function toWantedFiles(task: Task, intent: SummariseIntent): string[] | undefined {
  if (intent.glob === undefined) return [...intent.sources];
  const glob = lastOutcomeOf(task, "glob_search");
  if (!glob) return undefined;
  const found = glob.isError ? [] : parseFileLines(glob.output).filter((path) => path !== intent.target);
  return [...new Set([...intent.sources, ...found.slice(0, globLimit)])];
}

/** Lines of `glob_search` that are paths; its remarks are sentences. */
export function parseFileLines(output: string): string[] {
  return output
    .split("\n", 5000)
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.endsWith("."));
}

function toGlobStep(intent: SummariseIntent, phrases: Phrases): Step {
  const pattern = intent.glob ?? "";
  return toCalls(phrases.announce("search", pattern), { toolName: "glob_search", args: { pattern } });
}

function toReadStep(intent: SummariseIntent, paths: readonly string[], phrases: Phrases): Step {
  const calls = paths.map((path) => readCall(path));
  if (intent.target !== undefined) return { text: phrases.announceRead(paths), calls };
  return toCalls(phrases.announce("read", phrases.list(paths)), ...calls);
}

/** "The readme" may be README.rst: looks into the folder when the guess was wrong. */
function toGuessStep(task: Task, intent: SummariseIntent, reads: readonly Outcome[]): Step | undefined {
  const [first] = reads;
  if (!intent.isGuessed || reads.length !== 1 || !first?.isError || !task.tools.has("list_dir")) return undefined;
  const listed = lastOutcomeOf(task, "list_dir");
  if (!listed) return toSilentCalls(listCall("."));
  const guess = argumentOf(first, "target_file");
  const other = listed.isError ? undefined : findSimilar(toTopFiles(parseTree(listed.output)), guess);
  return other === undefined ? undefined : toSilentCalls(readCall(other));
}

/** Same name, another ending or case. */
export function findSimilar(files: readonly string[], guess: string): string | undefined {
  const stem = toStem(guess);
  return files.find((file) => file !== guess && toStem(file) === stem);
}

function toStem(path: string): string {
  return toBaseName(path)
    .replace(/\.[^.]{1,10}$/, "")
    .toLowerCase();
}

function toSource(read: Outcome): Source {
  const path = argumentOf(read, "target_file");
  const { text, totalLines } = parseReadOutput(read);
  return { name: path, path, text, ...(totalLines !== undefined && { totalLines }) };
}

function toSummaryResult(
  task: Task,
  intent: SummariseIntent,
  sources: readonly Source[],
  failed: readonly Outcome[],
  phrases: Phrases,
): Step {
  const failures = failed.map((read) => formatFailure(phrases, "read", argumentOf(read, "target_file"), read));
  const isSilent = intent.target !== undefined && intent.context === undefined;
  if (sources.length === 0)
    return toAnswer(`${isSilent ? "\n\n" : ""}${phrases.introduction}\n\n${failures.join("\n\n")}`);
  if (sources.every(({ text }) => text.trim() === "")) {
    const empty = sources.map(({ name }) => phrases.emptySource(toCode(name)));
    return toAnswer(`${isSilent ? "\n\n" : ""}${phrases.introduction}\n\n${[...empty, ...failures].join("\n\n")}`);
  }
  if (intent.target === undefined) return toAnswer(formatAnswer(intent, sources, failures, phrases));
  return toWriteStep(task, intent.target, sources, failures, phrases);
}

function toWriteStep(
  task: Task,
  target: string,
  sources: readonly Source[],
  failures: readonly string[],
  phrases: Phrases,
): Step {
  const written = lastOutcomeOf(task, "write_file");
  if (written && !written.isError) {
    // The example of the base text ends without a word.
    return toAnswer(failures.length > 0 ? `\n\n${failures.join("\n\n")}` : "");
  }
  const content = formatSummaryFile(sources, phrases);
  if (written) {
    const failure = formatFailure(phrases, "write", target, written);
    return toAnswer(`\n\n${failure}\n\n${phrases.summaryInstead}\n\n${content}`);
  }
  if (!task.tools.has("write_file")) {
    return toAnswer(`\n\n${phrases.toolMissing("write_file", task.mode)}\n\n${phrases.summaryInstead}\n\n${content}`);
  }
  const call: PlannedCall = { toolName: "write_file", args: { target_file: target, content } };
  const isPiped = sources.every(({ path }) => path === undefined);
  // Nothing was read then, so this is the first sentence.
  if (isPiped) return toCalls(`${phrases.introduction} ${phrases.announce("write", target)}`, call);
  return { text: [phrases.announceSummaryFile(target)], calls: [call] };
}

/** The text of a summary file. */
export function formatSummaryFile(sources: readonly Source[], phrases: Phrases): string {
  const [first] = sources;
  if (first && sources.length === 1) {
    const digest = createDigest(first.text, first.path);
    const title = first.path === undefined ? phrases.pipedTitle : phrases.summaryTitle(toTitleName(first));
    const origin = phrases.summarySource(first.name, formatCounts(digest, phrases));
    return `${[`# ${title}`, formatDigest(digest, phrases, first.name, 2), ...toPartNote(first, phrases), "---", origin].join("\n\n")}\n`;
  }
  const names = phrases.list(sources.map(toTitleName));
  const parts = sources.map((source) => {
    const digest = createDigest(source.text, source.path);
    const origin = phrases.summarySource(source.name, formatCounts(digest, phrases));
    return [
      `## ${source.name}`,
      formatDigest(digest, phrases, source.name, 3),
      ...toPartNote(source, phrases),
      origin,
    ].join("\n\n");
  });
  return `# ${phrases.summaryTitle(names)}\n\n${parts.join("\n\n")}\n`;
}

function formatAnswer(
  intent: SummariseIntent,
  sources: readonly Source[],
  failures: readonly string[],
  phrases: Phrases,
): string {
  const parts = [phrases.introduction];
  for (const source of sources) {
    const name = source.path === undefined ? source.name : toCode(source.name);
    if (source.text.trim() === "") {
      parts.push(phrases.emptySource(name));
      continue;
    }
    const digest = createDigest(source.text, source.path);
    parts.push(intent.isReview ? phrases.reviewOf(name) : phrases.summaryOf(name));
    parts.push(formatDigest(digest, phrases, source.name, 2));
    const hasFindings = digest.sections.some(({ label }) => label === "findings" || label === "errors");
    if (intent.isReview && !hasFindings) parts.push(`## ${phrases.labels.findings}\n\n${phrases.noFindings}`);
    parts.push(`${phrases.labels.facts}: ${formatCounts(digest, phrases)}`, ...toPartNote(source, phrases));
  }
  return [...parts, ...failures].join("\n\n");
}

function toPartNote({ name, text, totalLines }: Source, phrases: Phrases): string[] {
  const read = toLines(text).length;
  return totalLines === undefined || totalLines <= read ? [] : [phrases.partlyRead(name, read, totalLines)];
}

/** `README` for README.md; the whole name where the ending says more. */
function toTitleName({ path, name }: Source): string {
  return path === undefined ? name : toBaseName(path).replace(/\.(?:md|mdx|markdown|txt|rst|adoc)$/i, "");
}
