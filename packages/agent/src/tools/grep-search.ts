/** grep_search: text in files, by ripgrep. */
import { posix } from "node:path";
import * as s from "@sheaf/protocol/schema";
import { IgnoreRules } from "@sheaf/base/files/ignore-rules";
import { readLines } from "@sheaf/base/files/read-file";
import type { Workspace, WorkspacePath } from "@sheaf/base/files/workspace";
import { type AnchoredGlob, anchorGlob, isPlaced, toLiteral } from "./anchor-glob.ts";
import { toCancelledOutcome, toFailedOutcome, toFailure } from "./failure.ts";
import { resolvePlace } from "./resolve-folder.ts";
import { createFolderReader, findLeftOut, formatIgnored, readKind } from "@sheaf/base/files/read-folder";
import { createSearchResults, type FileMatches, formatSearch } from "./search-text.ts";
import type { Tool, ToolContext, ToolOutcome } from "./tool.ts";
import { toOptional, toArgumentText } from "./tool-traits.ts";

const defaultResults = 200;
const maxResults = 1000;
/** Milliseconds; then the result has the matches found so far. */
const maxDuration = 30_000;
const maxStderrBytes = 16 * 1024;
/** Characters of a line in the result; ripgrep marks a line that it cuts. */
const maxColumns = 500;
/** Limits of `showFarMatches`: files, lines of each file, and bytes of the largest file. */
const maxFar = 10;
const maxFarSize = 2 * 1024 * 1024;
/** Bytes of a line in the result on either side of a match. */
const shownBytes = 200;
/** Most lines before and after a match. */
const maxContext = 50;
/** Largest file in a search over several lines, since ripgrep loads such a file as a whole. */
const maxMultilineSize = "64M";

/** Most denied places that ripgrep gets, since a command line has its limits. */
const maxExclusions = 1000;

const parameters = s.object({
  pattern: s.string({ description: "Rust syntax" }),
  path: s.optional(s.string({ description: "File or folder; default: the workspace" })),
  glob: s.optional(s.string({ description: 'Only these files, such as "*.ts"' })),
  case_insensitive: s.optional(s.boolean()),
  multiline: s.optional(s.boolean({ description: "Matches may span lines" })),
  before: s.optional(s.integer({ minimum: 0, description: "Further lines shown" })),
  after: s.optional(s.integer({ minimum: 0, description: "Further lines shown" })),
  output_mode: s.optional(s.choice(["content", "files_with_matches", "count"], { description: "Default: content" })),
  max_results: s.optional(s.integer({ minimum: 1, description: `Default ${defaultResults}, at most ${maxResults}` })),
});
type Arguments = s.ValueOf<typeof parameters>;

/** Searches hidden files, but no binary files or files that .gitignore excludes, unless `path` points to them (N62). */
export const grepSearchTool: Tool<Arguments> = {
  name: "grep_search",
  description:
    "Search the text of files with a regular expression. Returns the matching lines with path and number. Searches hidden files; files in .gitignore only if path is in it.",
  access: "read",
  paths: { folders: ["path"] },
  opensResults: true,
  words: ["Searched files", "Dateien durchsucht", "Dosyalarda arandı", "ファイルを検索しました", "已搜尋檔案"],
  kind: "search",
  toCursor: ({ pattern, path, glob, case_insensitive: caseInsensitive, output_mode: outputMode }) => ({
    grepToolCall: {
      pattern: toArgumentText(pattern),
      ...toOptional("string", { path, glob }),
      ...toOptional("boolean", { caseInsensitive }),
      ...toOptional("string", { outputMode }),
    },
  }),
  claude: {
    name: "Grep",
    fields: { max_results: "head_limit", before: "-B", after: "-A", case_insensitive: "-i" },
  },
  aliases: ["rg", "ripgrep", "searchfilecontent", "searchtext"],
  parameters,
  async run(args, context) {
    const { workspace } = context;
    const fault = findFault(args);
    if (fault !== undefined) return toFailure("INVALID_PATTERN", fault);
    const resolved = resolvePlace(workspace, args.path);
    if (!resolved.ok) return toFailedOutcome(resolved.error);
    const { path, kind } = resolved.value;
    if (kind === "other") {
      return toFailure("NOT_A_FILE", `${path.named} is a pipe, socket or device: only files and folders are searched`);
    }
    const placed = toSearchedGlob(args.glob ?? "", workspace);
    if (!placed.ok) return toFailedOutcome(placed.error);
    return search({ ...args, glob: placed.glob }, path, context);
  },
};

/** Returns the problem with arguments that a program cannot take, or that no model means. */
function findFault({ pattern, glob = "" }: Arguments): string | undefined {
  if (pattern === "") return "the pattern is empty and would match every line: write one, or use read_file";
  if (pattern.includes("\0") || glob.includes("\0")) return "the pattern or glob holds a NUL character: leave it out";
  return undefined;
}

/**
 * Anchors a glob to the workspace, even if it starts with a slash, as in .gitignore. Sheaf reads such a glob as an
 * absolute path only if that is inside the workspace, or if the workspace has no entry of this name.
 */
function toSearchedGlob(glob: string, workspace: Workspace): AnchoredGlob {
  const top = workspace.resolve(".");
  if (glob.startsWith("!") || !isPlaced(glob) || !top.ok) return { ok: true, glob };
  const anchored = anchorGlob(glob, workspace, top.path);
  if (anchored.ok) return { ok: true, glob: `/${anchored.glob}` };
  const name = /^\/+([^/]*)/.exec(glob)?.[1];
  if (name === undefined) return anchored;
  const own = workspace.resolve(`./${name}`);
  const isOwn = own.ok && (/[*?[{\\]/.test(name) || readKind(workspace.root, own.path.relative) !== "missing");
  return isOwn && anchored.error.code === "PATH_OUTSIDE_WORKSPACE" ? { ok: true, glob } : anchored;
}

async function search(args: Arguments, path: WorkspacePath, context: ToolContext): Promise<ToolOutcome> {
  const { workspace, signal } = context;
  const limit = Math.min(args.max_results ?? defaultResults, maxResults);
  const isContent = (args.output_mode ?? "content") === "content";
  const rules = new IgnoreRules(workspace);
  const isNamed = await rules.isIgnored(path.relative, readKind(workspace.root, path.relative) === "folder");
  const ignored = isNamed ? "" : await findIgnored(workspace, path);
  await findLeftOut(workspace, path.relative, signal);
  const results = createSearchResults(isContent ? limit : 0);
  const timeout = AbortSignal.timeout(maxDuration);
  const outcome = await context.search({
    folder: workspace.root,
    args: [
      ...toOptions(args, isContent),
      ...toIgnoreOptions(workspace, path, isNamed),
      ...[...(workspace.leftOut?.paths ?? [])].slice(0, maxExclusions).map((denied) => `--glob=!/${toLiteral(denied)}`),
      "--",
      path.relative === "." ? "./" : `./${path.relative}`,
    ],
    signal: AbortSignal.any([signal, timeout]),
    onStdout: (chunk) => results.append(chunk),
    maxStderrBytes,
  });
  if (signal.aborted) return toCancelledOutcome();
  if (outcome.startError !== "") return toFailure("SEARCH_FAILED", `ripgrep was not started: ${outcome.startError}`);
  if (outcome.exitCode === 2 && results.files.size === 0) {
    const reason = await findPatternFault(args, context);
    if (reason !== undefined) return toFailure("INVALID_PATTERN", `the pattern or glob is not valid: ${reason}`);
  }
  // The exclusions only save ripgrep work; this filter hides the denied files.
  const allowed = [...results.files.values()].filter((file) => !workspace.leftOut?.has(file.path));
  const files = isNamed ? allowed : await removeIgnored(rules, allowed);
  if (isContent) await showFarMatches(files, args, context);
  return formatSearch(files, {
    mode: args.output_mode ?? "content",
    limit,
    endedEarly: results.isFull()
      ? "there are too many matches"
      : timeout.aborted
        ? `it took ${maxDuration / 1000} s`
        : "",
    problem: outcome.exitCode === 2 ? toOneLine(outcome.stderr) : "",
    ignored,
  });
}

/**
 * Shows matches behind the part of a line that ripgrep prints, with their surroundings, and the column for read_file.
 * ripgrep takes long to find columns, so a second run looks for them in these files alone.
 */
async function showFarMatches(files: readonly FileMatches[], args: Arguments, context: ToolContext): Promise<void> {
  const { workspace, signal } = context;
  const cut: FileMatches[] = [];
  for (const file of files.filter(({ lines }) => lines.some(({ text }) => text.endsWith(" long line]")))) {
    const resolved = workspace.resolve(file.path);
    const range = { startLine: 1, maxLines: 1, maxBytes: 1 };
    const read = resolved.ok && cut.length < maxFar && (await readLines(workspace.root, resolved.path, range, signal));
    if (read && read.ok && read.value.fileSize <= maxFarSize) cut.push(file);
  }
  if (cut.length === 0) return;
  const found = createSearchResults(maxResults, true);
  await context.search({
    folder: workspace.root,
    args: [...toOptions(args, true), "--column", "--no-ignore", "--", ...cut.map(({ path }) => `./${path}`)],
    signal,
    onStdout: (chunk) => found.append(chunk),
    maxStderrBytes,
  });
  for (const { path, lines } of cut) {
    const far = found.files.get(path)?.lines.filter(({ column = 0 }) => column > maxColumns - shownBytes) ?? [];
    for (const { line, column = 0 } of far.slice(0, maxFar)) {
      const resolved = workspace.resolve(path);
      const index = lines.findIndex((candidate) => candidate.line === line);
      if (index < 0 || !resolved.ok) continue;
      const range = { startLine: line, maxLines: 1, maxBytes: column + shownBytes };
      const read = await readLines(workspace.root, resolved.path, range, signal);
      if (!read.ok) continue;
      const bytes = Buffer.from(read.value.text);
      const start = bytes.subarray(0, column - 1).toString().length + 1;
      const text = bytes
        .subarray(Math.max(0, column - shownBytes))
        .toString()
        .trimEnd();
      lines[index] = { line, text: `[column ${start}] ... ${text} ...` };
    }
  }
}

/** Returns a text about the ignored entries directly in the searched folder, but not in deeper ones. */
async function findIgnored(workspace: Workspace, { relative }: WorkspacePath): Promise<string> {
  const reading = await (await createFolderReader(workspace, relative)).read(relative);
  return reading.ok ? formatIgnored(reading.ignored) : "";
}

function toOptions(args: Arguments, isContent: boolean): string[] {
  const { pattern, glob, case_insensitive, multiline, before = 0, after = 0 } = args;
  const isMultiline = multiline === true || /(?:^|[^\\])(?:\\\\)*\\n|\n/.test(pattern);
  return [
    "--no-config",
    "--color=never",
    "--no-heading",
    "--with-filename",
    "--null",
    "--sort=path",
    `--regexp=${pattern}`,
    case_insensitive ? "--ignore-case" : "--case-sensitive",
    ...(isContent
      ? ["--line-number", "--field-match-separator=\\x00", `--max-columns=${maxColumns}`, "--max-columns-preview"]
      : ["--count"]),
    ...(isContent && before + after > 0 ? toContextOptions(before, after) : []),
    ...(isMultiline ? ["--multiline", "--multiline-dotall", `--max-filesize=${maxMultilineSize}`] : []),
    ...(glob === undefined || glob === "" ? [] : [`--glob=${glob}`]),
    "--hidden",
    "--glob=!.git",
  ];
}

function toContextOptions(before: number, after: number): string[] {
  const [above, below] = [before, after].map((lines) => Math.min(lines, maxContext));
  return [
    `--before-context=${above}`,
    `--after-context=${below}`,
    "--field-context-separator=\\x01",
    "--no-context-separator",
  ];
}

/**
 * Returns the options with which ripgrep obeys the .gitignore files of the workspace alone, even if it isn't a
 * repository. ripgrep reads these files in the folder that it searches, and gets the workspace's file as an option;
 * Sheaf applies the files between both afterwards.
 */
function toIgnoreOptions(workspace: Workspace, path: WorkspacePath, isNamed: boolean): string[] {
  if (isNamed) return ["--no-ignore"];
  const options = [
    "--no-require-git",
    "--no-ignore-parent",
    "--no-ignore-dot",
    "--no-ignore-exclude",
    "--no-ignore-global",
  ];
  const isThere = path.relative !== "." && readKind(workspace.root, ".gitignore") === "file";
  return isThere ? [...options, `--ignore-file=${posix.join(workspace.root, ".gitignore")}`] : options;
}

/** Returns ripgrep's reason in one line; undefined if the pattern is not at fault. */
async function findPatternFault(
  args: Arguments,
  { workspace, search: run, signal }: ToolContext,
): Promise<string | undefined> {
  const options = [...toOptions(args, true), "--", "/dev/null"];
  const outcome = await run({ folder: workspace.root, args: options, signal, onStdout: () => true, maxStderrBytes });
  return outcome.exitCode === 2 ? toOneLine(outcome.stderr) : undefined;
}

/** Joins the lines of ripgrep's message, without a line of `^` that points into the line above it. */
function toOneLine(stderr: string): string {
  const lines = stderr.split("\n").map((line) => line.trim().replace(/^(rg|error): /, ""));
  return lines
    .filter((line) => line !== "" && !/^\^+$/.test(line))
    .join(" ")
    .slice(0, 500);
}

async function removeIgnored(rules: IgnoreRules, files: readonly FileMatches[]): Promise<FileMatches[]> {
  const kept: FileMatches[] = [];
  for (const file of files) {
    if (!(await rules.isIgnored(file.path, false))) kept.push(file);
  }
  return kept;
}
