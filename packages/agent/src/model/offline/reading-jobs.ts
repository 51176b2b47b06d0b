/** Jobs that read; and the summary that is written into a file. */
import { formatCounts, formatSummary } from "./digest.ts";
import { call, formatFailedOutcome, toAnswer, toCalls, toFailed, type Job, type Outcome, type Step } from "./job.ts";
import type { Language } from "./languages/english.ts";
import { fill, formatCode, formatFence, formatItems, formatList } from "./phrasing.ts";
import { toBaseName } from "./prompt.ts";
import { parseFileList, parseHits, parseReadOutput, parseTopFiles, toLines, type ReadText } from "./tool-results.ts";

const shownLines = 300;

interface SummaryOrder {
  readonly sources: readonly string[];
  /** A text that came with the prompt, summarised if there are no sources. */
  readonly context?: string | undefined;
  /** The file to write; without one the summary is the answer. */
  readonly target?: string | undefined;
}

export function summarise({ sources: paths, context, target }: SummaryOrder): Job {
  return {
    effect: target === undefined ? "reads" : "changes",
    *run({ language }) {
      const { summaryFile, nothing } = language.phrases;
      const isPiped = paths.length === 0;
      const read = toReadStep(language, paths);
      const announcement = summaryFile.slice(0, 2).map((phrase) => fill(phrase, formatList(language, paths)));
      const reads = isPiped ? [] : yield target === undefined ? read : { ...read, text: announcement };
      const failures = reads.filter(({ isError }) => isError).map((failed) => formatFailedOutcome(language, failed));
      const piped = { path: "prompt", text: context ?? "", startLine: 1, note: "" };
      const texts = isPiped ? [piped] : reads.filter(({ isError }) => !isError).map(parseReadOutput);
      const sources = texts.filter(({ text }) => text.trim() !== "");
      if (sources.length === 0)
        return toAnswer(language, ...failures, ...texts.map(({ path }) => fill(nothing, formatCode(path))));
      if (target === undefined)
        return toAnswer(language, ...sources.flatMap((source) => formatSource(language, source)), ...failures);
      const write = toCalls(language, "write_file", {
        target_file: target,
        content: formatSummaryFile(language, sources),
      });
      const [written] = yield isPiped ? write : { ...write, text: [fill(summaryFile[2] ?? "", "", target)] };
      if (written?.isError) failures.push(formatFailedOutcome(language, written));
      // The example of the format ends without a word (C7).
      return failures.length === 0 ? { text: "", calls: [] } : toAnswer(language, ...failures);
    },
  };
}

function toReadStep(language: Language, paths: readonly string[], lines: Readonly<Record<string, number>> = {}): Step {
  return toCalls(language, "read_file", ...paths.map((path) => ({ target_file: path, ...lines })));
}

function formatSource(language: Language, { path, text, note }: ReadText): string[] {
  return [formatSummary(language, text, path), `${formatCode(path)}: ${formatCounts(language, text)}`, note];
}

function formatSummaryFile(language: Language, sources: readonly ReadText[]): string {
  const { title, origin } = language.phrases;
  // `README` for README.md; the whole name where the ending says more.
  const names = sources.map(({ path }) => toBaseName(path).replace(/\.(?:md|mdx|txt|rst|adoc)$/i, ""));
  const parts = sources.flatMap(({ path, text, note }) => [
    formatSummary(language, text, path),
    note,
    fill(origin, path, formatCounts(language, text)),
  ]);
  return `${[`# ${fill(title, formatList(language, names))}`, ...parts].filter((part) => part !== "").join("\n\n")}\n`;
}

/** Quotes files, or lines of them (1-based, included), as code references (N19). */
export function showFiles(paths: readonly string[], range: readonly [number, number] | undefined): Job {
  const [start = 1, end = 1] = range?.toSorted((a, b) => a - b) ?? [];
  const lines: Readonly<Record<string, number>> = range ? { offset: start, limit: end - start + 1 } : {};
  return {
    effect: "reads",
    *run({ language }) {
      const reads = yield toReadStep(language, paths, lines);
      return toAnswer(language, ...reads.flatMap((read) => formatQuotation(language, read)));
    },
  };
}

function formatQuotation(language: Language, read: Outcome): string[] {
  if (read.isError) return [formatFailedOutcome(language, read)];
  const { path, text, startLine, note } = parseReadOutput(read);
  const lines = toLines(text);
  const shown = lines.slice(0, shownLines);
  if (shown.length === 0) return [fill(language.phrases.nothing, formatCode(path))];
  const left = lines.length - shown.length;
  const quotation = formatFence(shown.join("\n"), `${startLine}:${startLine + shown.length - 1}:${path}`);
  return [quotation, left > 0 ? fill(language.phrases.more, left) : "", note];
}

/** Searches for a text literally; words in lower case match any case. */
export function findText(term: string, folder: string | undefined, glob: string | undefined): Job {
  return {
    effect: "reads",
    *run({ language }) {
      const found = yield* call(language, "grep_search", {
        pattern: term.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`),
        ...(folder !== undefined && { path: folder }),
        ...(glob !== undefined && { glob }),
        ...(term === term.toLowerCase() && term !== term.toUpperCase() && { case_insensitive: true }),
      });
      return toFoundAnswer(language, term, found, parseHits(found));
    },
  };
}

export function findFiles(pattern: string, folder: string | undefined): Job {
  return {
    effect: "reads",
    *run({ language }) {
      const place = folder === undefined ? {} : { target_directory: folder };
      const found = yield* call(language, "glob_search", { pattern, ...place });
      return toFoundAnswer(language, pattern, found, parseFileList(found));
    },
  };
}

function toFoundAnswer(language: Language, term: string, found: Outcome, items: readonly string[]): Step {
  if (found.isError) return toFailed(language, found);
  const nothing = items.length === 0 ? fill(language.phrases.nothing, formatCode(term)) : "";
  return toAnswer(language, nothing, formatItems(language, items));
}

export function listFolder(folder: string): Job {
  return {
    effect: "reads",
    *run({ language }) {
      const listed = yield* call(language, "list_dir", { target_directory: folder });
      if (listed.isError) return toFailed(language, listed);
      return toAnswer(language, formatFence(listed.output, "text"));
    },
  };
}

/** Explains a folder: lists it, and summarises README and manifest. */
export function explainFolder(folder: string): Job {
  return {
    effect: "reads",
    *run({ language }) {
      const listed = yield* call(language, "list_dir", { target_directory: folder });
      if (listed.isError) return toFailed(language, listed);
      const names = parseTopFiles(listed);
      const paths = [/^readme(?:\.|$)/i, /^(?:package\.json|pyproject\.toml|Cargo\.toml|go\.mod)$/]
        .flatMap((pattern) => names.find((name) => pattern.test(name)) ?? [])
        .map((name) => (folder === "." ? name : `${folder}/${name}`));
      const reads = paths.length === 0 ? [] : yield toReadStep(language, paths);
      const summaries = reads.map((read) => {
        if (read.isError) return formatFailedOutcome(language, read);
        const { text, path } = parseReadOutput(read);
        return formatSummary(language, text, path);
      });
      return toAnswer(language, ...summaries, formatFence(listed.output, "text"));
    },
  };
}
