/** Rules for reading: summaries, and showing files or lines of them. */
import type { Intent, ShowIntent, SummariseIntent } from "./intent.ts";
import type { PlacedMention } from "./prompt.ts";
import type { Reading } from "./reading.ts";
import type { Concept } from "./vocabulary/vocabulary.ts";

/** How far beside a name its marker may stand, in characters. */
const markerReach = 40;

export function findPaths(reading: Reading): PlacedMention[] {
  return reading.mentions.filter(({ kind }) => kind === "path");
}

/** Whether the name is said to be the file that is to be written: "in summary.txt". */
export function isTarget(reading: Reading, mention: PlacedMention): boolean {
  const { folded } = reading.prompt;
  const before = folded.slice(Math.max(0, mention.at - markerReach), mention.at);
  return reading.vocabulary.targetBefore.test(before) || isTargetBehind(reading, mention);
}

function isTargetBehind(reading: Reading, mention: PlacedMention): boolean {
  const behind = reading.prompt.folded.slice(mention.at + 1, mention.at + 1 + markerReach);
  return reading.vocabulary.targetAfter.test(behind);
}

/** "Read README.md and create a summary": reads, then writes a file. */
export function toSummaryFile(reading: Reading, context: string | undefined): Intent | undefined {
  if (!reading.has("summary", "summarise")) return undefined;
  const paths = findPaths(reading);
  const target = findTarget(reading, paths);
  const isWriting = reading.has("create", "write") && !reading.has("about");
  // "Summarise a.md in b.txt" names the file, and so wants one.
  const isNamed = paths.length > 1 && target !== undefined && isTarget(reading, target);
  if (!isWriting && !isNamed) return undefined;
  const sources = paths.filter((path) => path !== target);
  const glob = findGlob(reading);
  if (sources.length === 0 && glob === undefined && context !== undefined) {
    return target
      ? { kind: "summarise", sources: [], context, target: target.text }
      : { kind: "summarise", sources: [], context };
  }
  if (sources.length === 0 && glob === undefined) {
    if (reading.has("project", "structure") && !target) return undefined;
    return {
      kind: "missing",
      what: "file",
      fill: (answer) => toSummaryIntent([answer], target?.text ?? "summary.txt"),
    };
  }
  const names = sources.map(({ text }) => text);
  const intent = toSummaryIntent(names, target?.text ?? "summary.txt");
  return { ...intent, ...(glob !== undefined && { glob }), ...toGuess(sources) };
}

/** A summary in a file that is none of its sources. */
function toSummaryIntent(sources: readonly string[], target: string): SummariseIntent {
  const isSource = sources.some((source) => toComparable(source) === toComparable(target));
  return { kind: "summarise", sources, target: isSource ? toOtherName(target) : target };
}

function toComparable(path: string): string {
  return path.replace(/^\.\//, "").replaceAll("\\", "/").toLowerCase();
}

/** `notes.md` gives `notes-summary.md`. */
function toOtherName(path: string): string {
  const dot = path.lastIndexOf(".");
  return dot > path.lastIndexOf("/") + 1 ? `${path.slice(0, dot)}-summary${path.slice(dot)}` : `${path}-summary`;
}

function findTarget(reading: Reading, paths: readonly PlacedMention[]): PlacedMention | undefined {
  const actions: readonly Concept[] = ["create", "write", "summary", "summarise"];
  const start = Math.min(...actions.map((concept) => reading.positionOf(concept)));
  // In Turkish and Japanese the verb comes last, and the marker is a suffix.
  const isVerbLast = reading.language === "tr" || reading.language === "ja";
  const marked = paths.filter((path) =>
    isVerbLast || path.at > start ? isTarget(reading, path) : isTargetBehind(reading, path),
  );
  if (marked.length > 0) return marked.at(-1);
  const last = paths.at(-1);
  const isNamedSo = /(?:summary|zusammenfassung|ozet|özet|摘要|要約|総括|總結|总结)/i.test(last?.text ?? "");
  return paths.length > 1 && isNamedSo ? last : undefined;
}

function findGlob(reading: Reading): string | undefined {
  const mention = reading.mentions.find(({ kind }) => kind === "glob" || kind === "extension");
  if (!mention) return undefined;
  return toGlob(mention.kind === "extension" ? `*.${mention.text}` : mention.text, findFolder(reading));
}

/** A pattern that also finds files in folders. */
export function toGlob(pattern: string, folder?: string): string {
  const base = folder === undefined || folder === "." ? "" : `${folder.replace(/\/$/, "")}/`;
  return pattern.includes("/") ? pattern : `${base}**/${pattern}`;
}

/** The folder that the instruction speaks of; undefined when it names none. */
export function findFolder(reading: Reading): string | undefined {
  const folder = reading.mentions.find(({ kind }) => kind === "folder");
  if (folder) return folder.text;
  const { folded } = reading.prompt;
  for (const word of reading.restWords) {
    if (word.isCjk) continue;
    const before = folded.slice(Math.max(0, word.at - markerReach), word.at);
    const behind = folded.slice(word.at + word.text.length, word.at + word.text.length + markerReach);
    if (reading.vocabulary.folderAfter.test(behind)) return word.text;
    if (reading.vocabulary.folderBefore.test(before)) return word.text;
  }
  // "in test", where "test" is a word of its own.
  const common = reading.prompt.tokens.find(
    (token) =>
      commonFolders.has(token.folded) &&
      reading.vocabulary.folderBefore.test(folded.slice(Math.max(0, token.at - markerReach), token.at)),
  );
  return common?.text;
}

const commonFolders = new Set([
  "src",
  "lib",
  "test",
  "tests",
  "docs",
  "doc",
  "app",
  "bin",
  "scripts",
  "packages",
  "plan",
  "spec",
]);

function toGuess(sources: readonly PlacedMention[]): { isGuessed?: true } {
  return sources.length === 1 && sources[0]?.guessed ? { isGuessed: true } : {};
}

/** "Summarise README.md", "What is in package.json?": answers with a summary. */
export function toSummaryAnswer(reading: Reading, context: string | undefined): Intent | undefined {
  const isAsked = reading.has("summarise", "summary", "about", "explain", "review", "count");
  if (!isAsked) return undefined;
  const review = reading.has("review") ? { isReview: true as const } : {};
  const paths = findPaths(reading);
  const names = paths.map(({ text }) => text);
  if (paths.length > 0) return { kind: "summarise", sources: names, ...toGuess(paths), ...review };
  const glob = findGlob(reading);
  if (glob !== undefined) return { kind: "summarise", sources: [], glob, ...review };
  if (context !== undefined) return { kind: "summarise", sources: [], context, ...review };
  const folder = findFolder(reading);
  const others = reading.restWords.filter(({ text }) => text !== folder);
  if (folder !== undefined && others.length === 0) return { kind: "explain_layout", folder };
  // "What is love?" is no file that could be read.
  const isOther = reading.restWords.length > 0 && !reading.has("summarise", "summary", "review");
  if (isOther || !reading.has("summarise", "summary", "review", "explain", "this", "file")) return undefined;
  return { kind: "missing", what: "file", fill: (answer) => ({ kind: "summarise", sources: [answer], ...review }) };
}

/** "Show lines 10-20 of src/a.ts", "Read README.md". */
export function toShow(reading: Reading): Intent | undefined {
  if (reading.has("create", "write", "delete", "replace")) return undefined;
  if (!reading.has("show", "read") && !(reading.has("lines") && findPaths(reading).length > 0)) return undefined;
  const paths = findPaths(reading);
  const lines = findLines(reading, paths[0]);
  if (paths.length === 0) {
    if (reading.restWords.length > 0 && !reading.has("file", "lines")) return undefined;
    return { kind: "missing", what: "file", fill: (answer) => ({ kind: "show", paths: [answer], ...lines }) };
  }
  return { kind: "show", paths: paths.map(({ text }) => text), ...lines, ...toGuess(paths) };
}

type LineRange = Pick<ShowIntent, "startLine" | "endLine" | "lastLines">;

/** "lines 10 to 20", "a.ts:10-20", "the first 5 lines". */
function findLines(reading: Reading, path: PlacedMention | undefined): LineRange {
  if (path?.startLine !== undefined) return toRange(path.startLine, path.endLine ?? path.startLine);
  if (!reading.has("lines")) return {};
  const numbers = [...reading.prompt.folded.slice(0, 400).matchAll(/\d{1,7}/g)]
    .map(([digits]) => Number(digits))
    .slice(0, 2);
  const [first, second] = numbers;
  if (first === undefined || first < 1) return {};
  if (second !== undefined) return toRange(first, second);
  if (reading.has("last")) return { lastLines: first };
  return reading.has("first") ? toRange(1, first) : toRange(first, first);
}

function toRange(first: number, second: number): LineRange {
  return { startLine: Math.max(1, Math.min(first, second)), endLine: Math.max(1, first, second) };
}
