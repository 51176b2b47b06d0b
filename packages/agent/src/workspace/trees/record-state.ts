/** Records the state of a folder as a tree of git (S-125). Git runs no program in the folder, and follows no link. */
import { accessSync, constants, existsSync, renameSync, type Stats, statSync, utimesSync, copyFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { SheafError } from "@sheaf/base/errors";
import { listEntryNames } from "@sheaf/base/files/list-files";
import { hasRepositoryShape, readStats } from "@sheaf/base/files/repository";
import { askGit, type GitSetup, runGit, toReason } from "@sheaf/base/git/run-git";
import type { TreePlace } from "./working-tree.ts";

export interface TreeLimits {
  /** Size above which a file is not part of the state. */
  readonly fileBytes: number;
  /** Limit of all new and changed files together; files that do not fit are not part of the state. */
  readonly totalBytes: number;
  /** Limit for the number of new and changed files; further ones are not part of the state. */
  readonly files: number;
}

const defaultLimits: TreeLimits = { fileBytes: 100 * 1024 ** 2, totalBytes: 1024 ** 3, files: 50_000 };

/** Time limit of git's work on a state: hostile ignore patterns may take for ever. Milliseconds. */
const RECORD_MS = 120_000;

interface StateRequest {
  /** The commit of the last recorded state, or of the start. */
  readonly parent: string;
  readonly message: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly limits?: TreeLimits | undefined;
}

export interface RecordedState {
  /** `parent` if every file is as before. */
  readonly commit: string;
  /** Paths that are not in it, and why, in one line each. */
  readonly leftOut: readonly string[];
}

/**
 * Makes the commit in the mirror, without ignored files and without a ref for it.
 * @throws SheafError INTERNAL when git cannot read the tree in time.
 */
export async function recordState(mirror: GitSetup, place: TreePlace, request: StateRequest): Promise<RecordedState> {
  const { parent, message, now, limits = defaultLimits } = request;
  const { files: workTree, index } = place;
  // An interrupted run leaves the old index as it was.
  const next = `${index}.next`;
  const work = { workTree, index: next, timeoutMs: RECORD_MS };
  if (existsSync(index)) copyIndex(index, next);
  else await askGit(mirror, ["read-tree", parent], { ...work, purpose: "read the last state" });
  const changes = await listStateChanges(mirror, work, { limits });
  const { tree, refused } = await writeState(mirror, work, changes);
  const leftOut = [...changes.leftOut, ...refused];
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

/** Git trusts an entry that is older than the index: a younger copy would hide changes of the same moment. */
export function copyIndex(index: string, copy: string): void {
  copyFileSync(index, copy);
  const seconds = Math.floor(statSync(index).mtimeMs) / 1000;
  utimesSync(copy, seconds, seconds);
}

export interface TreeWork {
  readonly workTree: string;
  readonly index: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface StateScope {
  readonly limits: TreeLimits;
  /** The part of the work tree to record, as git writes it; default: all of it. */
  readonly inner?: string | undefined;
  /** Arguments with ignore patterns, in addition to the `.gitignore` files. */
  readonly excludes?: readonly string[] | undefined;
  /** A folder that the state never contains. */
  readonly hidden?: string | undefined;
  /** Limit up to which ignored files are part of the state. Bytes; default: they are not part of it. */
  readonly ignoredBytes?: number | undefined;
}

/** Differences between the index and the folder. */
export interface StateChanges {
  readonly present: ReadonlyMap<string, Stats>;
  readonly gone: readonly string[];
  readonly leftOut: readonly string[];
  /** Size of the ignored files. Bytes. */
  readonly ignoredBytes: number;
}

/** @throws SheafError INTERNAL. */
export async function listStateChanges(mirror: GitSetup, work: TreeWork, scope: StateScope): Promise<StateChanges> {
  const { excludes = [], inner, limits, ignoredBytes: ignoredRoom } = scope;
  const others = ["ls-files", "-z", "--others", "--exclude-standard", ...excludes];
  const where = inner === undefined ? [] : ["--", inner];
  const [changed, added, ignored] = await Promise.all([
    listChanged(mirror, work),
    list(mirror, [...others, ...where], work),
    ignoredRoom === undefined ? [] : list(mirror, [...others, "--ignored", "--directory", ...where], work),
  ]);
  // A revert restores a known path over any entry, so a known path with an entry that cannot be recorded is gone.
  const known = new Set(ignoredRoom === undefined ? [] : changed);
  const sorted = sortPaths(work.workTree, { paths: [...new Set([...changed, ...added])], known }, limits);
  if (ignoredRoom === undefined) return { ...sorted, ignoredBytes: 0 };
  const found = findIgnored(work.workTree, ignored, ignoredRoom, scope.hidden);
  const present = new Map([...sorted.present, ...found.present]);
  return { ...sorted, present, leftOut: [...sorted.leftOut, ...found.leftOut], ignoredBytes: found.bytes };
}

export interface WrittenState {
  readonly tree: string;
  /** Names such as `.GIT/config`, which another file system takes for git's own folder, with the reason. */
  readonly refused: readonly string[];
}

/** Makes the index like the folder, for these paths. @throws SheafError INTERNAL. */
export async function writeState(
  mirror: GitSetup,
  work: TreeWork,
  { present, gone }: { readonly present: Iterable<readonly [string, unknown]>; readonly gone: readonly string[] },
): Promise<WrittenState> {
  await updateEntries(mirror, ["--force-remove"], gone, work);
  // A file may have disappeared meanwhile.
  const refused = await updateEntries(
    mirror,
    ["--add", "--replace", "--remove"],
    [...present].map(([path]) => path),
    work,
  );
  const tree = await readLine(mirror, ["write-tree"], { ...work, purpose: "write the state" });
  return { tree, refused: refused.map((path) => `${path}: git takes no file of this name`) };
}

async function list(mirror: GitSetup, words: readonly string[], options: TreeWork): Promise<string[]> {
  const output = await askGit(mirror, words, { ...options, purpose: "list the changed files" });
  // Names that are not UTF-8 return as other names: see `isForeignName`.
  return output.toString().split("\0").filter(Boolean);
}

/** Includes unchanged files with new times, because their modes may differ. Submodules keep their commits. */
async function listChanged(mirror: GitSetup, options: TreeWork): Promise<string[]> {
  const fields = await list(mirror, ["diff-files", "-z", "--raw", "--ignore-submodules=all"], options);
  const paths: string[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    if (!fields[at]!.startsWith(":160000 ")) paths.push(fields[at + 1]!);
  }
  return paths;
}

/** Returns the paths that git refuses. */
export async function updateEntries(
  mirror: GitSetup,
  how: readonly string[],
  paths: readonly string[],
  options: TreeWork,
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

/** Sorts out the paths that git may read: files, and links as links, in real folders. */
function sortPaths(
  root: string,
  { paths, known }: { readonly paths: readonly string[]; readonly known: ReadonlySet<string> },
  limits: TreeLimits,
): Omit<StateChanges, "ignoredBytes"> {
  const present = new Map<string, Stats>();
  const gone: string[] = [];
  const leftOut: string[] = [];
  const folders = new Map<string, boolean>([[".", true]]);
  const isFolder = (folder: string): boolean => {
    const seen = folders.get(folder);
    const found = seen ?? (isFolder(dirname(folder)) && readStats(join(root, folder))?.isDirectory() === true);
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
      leftOut.push(`${path}: ${OWN_REPOSITORY}`);
      continue;
    }
    const stats = isFolder(dirname(path)) ? readStats(join(root, path)) : undefined;
    const problem =
      stats && isInRepository(dirname(path))
        ? "git takes the folder around it for a repository"
        : stats && (findProblem(stats, limits, bytes, present.size) ?? findObstacle(join(root, path), stats));
    if (!stats && isForeignName(path)) leftOut.push(`${path}: ${FOREIGN_NAME}`);
    else if (!stats || stats.isDirectory() || (problem !== undefined && known.has(path))) gone.push(path);
    else if (problem !== undefined) leftOut.push(`${path}: ${problem}`);
    else {
      bytes += stats.size;
      present.set(path, stats);
    }
  }
  return { present, gone, leftOut };
}

const OWN_REPOSITORY = "it has its own repository";
const FOREIGN_NAME = "its name is not UTF-8";

/** Node replaces characters in such a name, and no file has the new name. */
function isForeignName(path: string): boolean {
  return path.includes("\uFFFD");
}

function findProblem(stats: Stats, limits: TreeLimits, bytes: number, count: number): string | undefined {
  if (!stats.isFile() && !stats.isSymbolicLink()) return "it is not a file or a link";
  if (stats.size > limits.fileBytes) return `it is larger than ${limits.fileBytes} bytes`;
  if (bytes + stats.size > limits.totalBytes) return `the changed files have more than ${limits.totalBytes} bytes`;
  return count < limits.files ? undefined : `more than ${limits.files} files have changed`;
}

/** Git fails at a file that it cannot read. */
function findObstacle(file: string, stats: Stats): string | undefined {
  if (!stats.isFile() || (stats.mode & 0o444) === 0o444) return undefined;
  try {
    accessSync(file, constants.R_OK);
    return undefined;
  } catch {
    return "it cannot be read";
  }
}

/** Folders that package managers fill again, if an ignore pattern matches them. */
const dependencyFolders: ReadonlySet<string> = new Set([
  "node_modules", "bower_components", ".pnpm-store", ".yarn", "vendor", "Pods", "Carthage", "deps", "elm-stuff",
  ".venv", "venv", "env", ".tox", ".nox", "__pycache__", "site-packages", ".eggs",
  "target", ".gradle", ".m2", ".cargo", ".terraform", ".dart_tool", ".bundle", ".stack-work", "dist-newstyle",
]); // prettier-ignore

/** Folders that Sheaf leaves out even where ignore rules don't name them. */
export const knownDependencyFolders: readonly string[] = ["node_modules", ".venv", "__pycache__", ".tox", ".gradle"];

/** Ignored files that are looked at. */
const MAX_IGNORED_FILES = 50_000;

/** The smallest first, up to `room` bytes. `entries`: files, and folders with a slash. */
function findIgnored(root: string, entries: readonly string[], room: number, hidden?: string) {
  const found: [path: string, stats: Stats][] = [];
  const leftOut: string[] = [];
  const waiting = [...entries];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const stats = readStats(join(root, path));
    if (!stats) {
      if (isForeignName(path)) leftOut.push(`${path}: ${FOREIGN_NAME}`);
      continue;
    }
    if (stats.isDirectory()) {
      const names = listEntryNames(join(root, path));
      const folder = path.endsWith("/") ? path : `${path}/`;
      if (folder === `${hidden}/`) continue;
      if (names.includes(".git")) leftOut.push(`${folder}: ${OWN_REPOSITORY}`);
      else if (dependencyFolders.has(basename(path)) || names.includes("CACHEDIR.TAG"))
        leftOut.push(`${folder}: it has dependencies or a cache`);
      else if (found.length + waiting.length + names.length > MAX_IGNORED_FILES)
        leftOut.push(`${folder}: more than ${MAX_IGNORED_FILES} files are ignored`);
      else waiting.push(...names.map((name) => folder + name));
    } else if (stats.isFile() || stats.isSymbolicLink()) {
      const obstacle = findObstacle(join(root, path), stats);
      if (obstacle === undefined) found.push([path, stats]);
      else leftOut.push(`${path}: ${obstacle}`);
    }
  }
  const present = new Map<string, Stats>();
  let bytes = 0;
  for (const [path, stats] of found.toSorted(([, one], [, other]) => one.size - other.size)) {
    if (bytes + stats.size > room) leftOut.push(`${path}: the ignored files have more than ${room} bytes`);
    else {
      bytes += stats.size;
      present.set(path, stats);
    }
  }
  return { present, leftOut, bytes };
}
