/** glob_search: files by a pattern of their paths. */
import { setImmediate as yieldToEvents } from "node:timers/promises";
import * as s from "@sheaf/protocol/schema";
import { type Glob, parseGlob } from "@sheaf/base/files/glob";
import type { Workspace, WorkspacePath } from "@sheaf/base/files/workspace";
import { type AnchoredGlob, anchorGlob, isPlaced } from "./anchor-glob.ts";
import { toCancelledOutcome, toFailedOutcome, toFailure } from "./failure.ts";
import { createFolderReader, type FolderEntry, formatIgnored, readKind, toLine } from "@sheaf/base/files/read-folder";
import { resolveFolder } from "./resolve-folder.ts";
import type { Tool } from "./tool.ts";
import { toOptional, toArgumentText } from "./tool-traits.ts";

const maxFiles = 1000;
/** Most entries of a search; in a larger tree, the model must search in parts. */
const maxVisited = 1_000_000;
/** Paths in memory before the last ones are dropped. */
const maxCollected = 50_000;
/** Milliseconds of work before other events get their turn. */
const turnPeriod = 20;

const parameters = s.object({
  pattern: s.string({ description: 'Glob, for instance "**/*.test.ts"; without "/" it matches at any depth' }),
  target_directory: s.optional(s.string({ description: "Default: the workspace" })),
});

/** Names with a dot at the start are names like any other; the search does not follow links to folders (N62). */
export const globSearchTool: Tool<s.ValueOf<typeof parameters>> = {
  name: "glob_search",
  description: `Find files by name or path. Returns at most ${maxFiles} paths, sorted, without files in .gitignore, unless target_directory is in it.`,
  access: "read",
  paths: { folders: ["target_directory"] },
  words: ["Searched files", "Dateien durchsucht", "Dosyalarda arandı", "ファイルを検索しました", "已搜尋檔案"],
  kind: "search",
  toCursor: ({ pattern, target_directory: targetDirectory }) => ({
    globToolCall: { globPattern: toArgumentText(pattern), ...toOptional("string", { targetDirectory }) },
  }),
  claude: { name: "Glob", fields: { target_directory: "path" } },
  aliases: ["find", "findfiles", "filesearch"],
  parameters,
  async run({ pattern, target_directory }, { workspace, signal }) {
    const resolved = resolveFolder(workspace, target_directory);
    if (!resolved.ok) return toFailedOutcome(resolved.error);
    const path = resolved.value;
    const anchored = toAnchoredPattern(pattern.trim(), workspace, path);
    if (!anchored.ok) return toFailedOutcome(anchored.error);
    const glob = parseGlob(anchored.glob);
    if (!glob || pattern.trim() === "") {
      return toFailure(
        "INVALID_PATTERN",
        `the glob ${JSON.stringify(pattern.slice(0, 100))} is empty or too long: write another one`,
      );
    }
    const found = await findFiles(workspace, path.relative, glob, signal);
    if (signal.aborted) return toCancelledOutcome();
    return toOutcome(found);
  },
};

/** Makes a pattern relative to the folder; without a slash it matches at any depth. */
function toAnchoredPattern(pattern: string, workspace: Workspace, folder: WorkspacePath): AnchoredGlob {
  if (isPlaced(pattern)) return anchorGlob(pattern, workspace, folder);
  return { ok: true, glob: pattern.includes("/") ? pattern : `**/${pattern}` };
}

interface FoundFiles {
  /** The first files, sorted. */
  readonly files: readonly string[];
  readonly total: number;
  /** Bytes of all paths, with one path per line. */
  readonly bytes: number;
  /** Entries that could match, but for ignore rules. */
  readonly ignored: readonly FolderEntry[];
  /** True if the tree was too large to search completely. */
  readonly isEarlyEnd: boolean;
}

/** Finds files. Never rejects. `most`: entries that it visits. */
export async function findFiles(
  workspace: Workspace,
  start: string,
  glob: Glob,
  signal: AbortSignal,
  most = maxVisited,
): Promise<FoundFiles> {
  const reader = await createFolderReader(workspace, start);
  const prefix = start === "." ? 0 : start.length + 1;
  const open = [start];
  const ignored: FolderEntry[] = [];
  let files: string[] = [];
  let [total, bytes, visited, turn] = [0, 0, 0, performance.now()];
  for (let folder = open.pop(); folder !== undefined && visited < most; folder = open.pop()) {
    if (performance.now() - turn > turnPeriod) {
      await yieldToEvents();
      turn = performance.now();
    }
    if (signal.aborted) break;
    const reading = await reader.read(folder);
    if (!reading.ok) continue;
    visited += reading.entries.length;
    for (const entry of reading.ignored) {
      const path = entry.path.slice(prefix);
      if (entry.kind === "folder" ? glob.mayMatchBelow(path) : glob.isMatch(path)) ignored.push(entry);
    }
    for (const entry of reading.entries) {
      const path = entry.path.slice(prefix);
      if (entry.kind === "folder") {
        if (glob.mayMatchBelow(path)) open.push(entry.path);
      } else if (glob.isMatch(path) && isFile(workspace, entry)) {
        files.push(entry.path);
        total += 1;
        bytes += Buffer.byteLength(entry.path) + 1;
      }
    }
    if (files.length > maxCollected) files = files.toSorted().slice(0, maxFiles);
  }
  return { files: files.toSorted().slice(0, maxFiles), total, bytes, ignored, isEarlyEnd: open.length > 0 };
}

/** Returns true for a file, and for a link to a file of the workspace. */
function isFile(workspace: Workspace, { kind, path }: FolderEntry): boolean {
  if (kind !== "link") return kind === "file";
  const resolved = workspace.resolve(path);
  return resolved.ok && readKind(workspace.root, resolved.path.relative) === "file";
}

function toOutcome({
  files,
  total,
  bytes,
  ignored,
  isEarlyEnd,
}: FoundFiles): Awaited<ReturnType<typeof globSearchTool.run>> {
  const isCut = files.length < total || isEarlyEnd;
  const notes: string[] = [];
  if (files.length < total) notes.push(`These are the first ${files.length} of ${total} files: narrow the pattern.`);
  if (isEarlyEnd) notes.push(`Only ${maxVisited} entries were visited: name a target_directory.`);
  if (ignored.length > 0) notes.push(formatIgnored(ignored));
  return {
    status: "success",
    output: total === 0 ? "No file matches." : files.map(toLine).join("\n"),
    ...(notes.length > 0 && { note: notes.join(" ") }),
    ...(isCut && { truncated: true as const, bytes }),
    effect: { kind: "glob", files, totalFiles: total, truncated: isCut },
  };
}
