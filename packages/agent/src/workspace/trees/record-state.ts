/** The state of a working tree as a commit: tracked and new files, ignored ones not (S-125). Nothing in the tree is run or followed. */
import { copyFileSync, existsSync, renameSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import { hasRepositoryShape, readStats } from "@sheaf/base/files/repository";
import { SheafError } from "@sheaf/base/errors";
import { askGit, type GitSetup, runGit, toReason } from "@sheaf/base/git/run-git";
import type { TreePlace } from "./working-tree.ts";

interface TreeLimits {
  /** Larger files are left out. */
  readonly fileBytes: number;
  /** Of new and changed files together; those that do not fit are left out. */
  readonly totalBytes: number;
  /** New and changed files; with more, further ones are left out. */
  readonly files: number;
}

const defaultLimits: TreeLimits = { fileBytes: 100 * 1024 ** 2, totalBytes: 1024 ** 3, files: 50_000 };

/** Hostile ignore patterns may take for ever. Milliseconds. */
const RECORD_MS = 120_000;

interface StateRequest {
  /** The commit before: that of the state recorded last, or of the start. */
  readonly parent: string;
  readonly message: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly limits?: TreeLimits | undefined;
}

export interface RecordedState {
  /** `parent` if nothing has changed since. */
  readonly commit: string;
  /** Paths that are not in it, and why, in one line each. */
  readonly leftOut: readonly string[];
}

/**
 * Makes the commit in the mirror; no ref names it yet.
 * @throws SheafError INTERNAL when git cannot read the tree in time.
 */
export async function recordState(mirror: GitSetup, place: TreePlace, request: StateRequest): Promise<RecordedState> {
  const { parent, message, now, limits = defaultLimits } = request;
  const { files: workTree, index } = place;
  const options = { workTree, index, timeoutMs: RECORD_MS };
  // An interrupted run leaves the old index as it was.
  const next = `${index}.next`;
  if (existsSync(index)) copyFileSync(index, next);
  else await askGit(mirror, ["read-tree", parent], { ...options, index: next, purpose: "read the last state" });
  const work = { ...options, index: next };
  const changed = await list(mirror, ["--modified", "--deleted"], work);
  const added = await list(mirror, ["--others", "--exclude-standard"], work);
  const submodules = await listSubmodules(mirror, work);
  const paths = [...new Set([...changed, ...added])].filter((path) => !submodules.has(path));
  const { present, gone, skipped } = sortPaths(workTree, paths, limits);
  await update(mirror, ["--force-remove"], gone, work);
  const refused = await update(mirror, ["--add", "--replace"], present, work);
  const leftOut = [...skipped, ...refused.map((path) => `${path}: git takes no file of this name`)];
  const tree = await readLine(mirror, ["write-tree"], { ...work, purpose: "write the state" });
  renameSync(next, index);
  const before = await readLine(mirror, ["rev-parse", `${parent}^{tree}`], { purpose: `read ${parent}` });
  if (tree === before) return { commit: parent, leftOut };
  const commit = await readLine(mirror, ["commit-tree", tree, "-p", parent, "-F", "-"], {
    purpose: "record the state",
    input: message,
    now,
  });
  return { commit, leftOut };
}

interface WorkOptions {
  readonly workTree: string;
  readonly index: string;
  readonly timeoutMs: number;
}

async function list(mirror: GitSetup, kinds: readonly string[], options: WorkOptions): Promise<string[]> {
  const output = await askGit(mirror, ["ls-files", "-z", ...kinds], { ...options, purpose: "list the changed files" });
  // Names that are not UTF-8 come back as other names, which do not exist.
  return output.toString().split("\0").filter(Boolean);
}

/** Their commits stay those of the start. */
async function listSubmodules(mirror: GitSetup, options: WorkOptions): Promise<ReadonlySet<string>> {
  const entries = await list(mirror, ["--stage"], options);
  return new Set(
    entries.filter((entry) => entry.startsWith("160000 ")).map((entry) => entry.slice(entry.indexOf("\t") + 1)),
  );
}

/** Returns the paths that git refuses, such as `.GIT/config`, which another file system takes for its own folder. */
async function update(
  mirror: GitSetup,
  how: readonly string[],
  paths: readonly string[],
  options: WorkOptions,
): Promise<readonly string[]> {
  if (paths.length === 0) return [];
  const input = paths.map((path) => `${path}\0`).join("");
  const outcome = await runGit(mirror, ["update-index", ...how, "-z", "--stdin"], { ...options, input });
  if (outcome.exitCode === 0)
    return [...outcome.stderr.matchAll(/^Ignoring path (.*)$/gm)].map(([, path = ""]) => path);
  throw new SheafError("INTERNAL", `git could not add the changed files: ${toReason(outcome)}`);
}

async function readLine(mirror: GitSetup, args: readonly string[], options: Parameters<typeof askGit>[2]) {
  return (await askGit(mirror, args, options)).toString().trim();
}

interface SortedPaths {
  readonly present: readonly string[];
  readonly gone: readonly string[];
  /** With the reason, in one line each. */
  readonly skipped: readonly string[];
}

/** What git may read of the tree: files, and links as links, in folders that are no links. */
function sortPaths(root: string, paths: readonly string[], limits: TreeLimits): SortedPaths {
  const present: string[] = [];
  const gone: string[] = [];
  const skipped: string[] = [];
  const folders = new Map<string, boolean>([[".", true]]);
  const isFolder = (folder: string): boolean => {
    const known = folders.get(folder);
    if (known !== undefined) return known;
    const found = isFolder(dirname(folder)) && readStats(join(root, folder))?.isDirectory() === true;
    folders.set(folder, found);
    return found;
  };
  const shapes = new Map<string, boolean>([[".", false]]);
  // Git obeys the settings in such a folder, wherever the commit is checked out (S-244).
  const isInRepository = (folder: string): boolean => {
    const found = shapes.get(folder) ?? (isInRepository(dirname(folder)) || hasRepositoryShape(join(root, folder)));
    shapes.set(folder, found);
    return found;
  };
  let bytes = 0;
  for (const path of paths) {
    if (path.endsWith("/")) {
      skipped.push(`${path}: it is a repository of its own`);
      continue;
    }
    const stats = isFolder(dirname(path)) ? readStats(join(root, path)) : undefined;
    const problem =
      stats && isInRepository(dirname(path))
        ? "git takes the folder around it for a repository"
        : stats && findProblem(stats, limits, bytes, present.length);
    if (!stats || stats.isDirectory()) gone.push(path);
    else if (problem !== undefined) skipped.push(`${path}: ${problem}`);
    else {
      bytes += stats.size;
      present.push(path);
    }
  }
  return { present, gone, skipped };
}

function findProblem(stats: Stats, limits: TreeLimits, bytes: number, count: number): string | undefined {
  if (!stats.isFile() && !stats.isSymbolicLink()) return "it is neither a file nor a link";
  if (stats.size > limits.fileBytes) return `it is larger than ${limits.fileBytes} bytes`;
  if (bytes + stats.size > limits.totalBytes) return `the changed files have more than ${limits.totalBytes} bytes`;
  return count < limits.files ? undefined : `more than ${limits.files} files have changed`;
}
