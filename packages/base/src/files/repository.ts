/** Finds the repository of a folder by reading files, without starting git (S-02, S-05). */
import { lstatSync, realpathSync, type Stats } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { toComparable } from "./comparable-name.ts";
import { readSmallFile } from "./open-file.ts";

/** Most bytes of files such as `.git`, `commondir` and `HEAD`: one line. Like git, Sheaf ignores line ends after it. */
const MAX_BYTES = 8192;

/**
 * The kind of `.git`: a folder, a file with the path of one (a worktree or a submodule), a link, the folder itself (a
 * bare repository), or no `.git`.
 */
type GitKind = "folder" | "file" | "link" | "bare" | "none";

/** The repository of a folder. Two are the same only if all fields are equal. */
export interface Repository {
  /** Real path of its working tree, or without a repository, of the folder itself. */
  readonly root: string;
  readonly git: GitKind;
  /** The folder with git's files for this checkout, links resolved; "" without a repository. */
  readonly gitFolder: string;
  /** The folder with git's settings and hooks, which differs from `gitFolder` in worktrees. */
  readonly commonFolder: string;
}

/**
 * Returns the repository of the nearest `.git`, or the nearest bare repository, at or above a folder. Like git, it
 * ignores a repository whose owner is not the folder's. `folder` is a real path.
 */
export function findRepository(folder: string): Repository {
  const repository = findNearestRepository(folder);
  const isOwn = readStats(repository.root)?.uid === readStats(folder)?.uid;
  return isOwn ? repository : toPlainFolder(folder);
}

/**
 * Lists the repositories that git may use in a folder. The nearest one is first, even another user's. Outer ones follow
 * as long as git may pass over an incomplete one. Without any, it is the folder itself. `folder` is a real path.
 */
export function listCandidates(folder: string): Repository[] {
  const nearest = findNearestRepository(folder);
  const outer = dirname(nearest.root);
  const isLast = nearest.git === "none" || isComplete(nearest) || outer === nearest.root;
  return isLast ? [nearest] : [nearest, ...listCandidates(outer)];
}

function isComplete({ gitFolder, commonFolder }: Repository): boolean {
  const head = readSmallFile(join(gitFolder, "HEAD"), MAX_BYTES) ?? "";
  const isHead = /^(?:ref: refs\/\S+|[0-9a-f]{40,64})\s*$/.test(head);
  return isHead && ["objects", "refs"].every((name) => readStats(join(commonFolder, name))?.isDirectory());
}

/** Finds the nearest one, even of another user, since settings of git can accept it. */
function findNearestRepository(folder: string): Repository {
  for (let root = folder; ; root = dirname(root)) {
    const repository = readRepository(root);
    if (repository) return repository;
    if (root === dirname(root)) return toPlainFolder(folder);
  }
}

export function isSameRepository(one: Repository, other: Repository): boolean {
  return (
    one.root === other.root &&
    one.git === other.git &&
    one.gitFolder === other.gitFolder &&
    one.commonFolder === other.commonFolder
  );
}

/** Returns the branch that is checked out; undefined without one, and for a name that git would not make. */
export function readBranch({ root, gitFolder }: Repository): string | undefined {
  // A file `.git` can point to any folder, so other places are not read.
  if (gitFolder !== root && dirname(gitFolder) !== root) return undefined;
  const head = readSmallFile(join(gitFolder, "HEAD"), MAX_BYTES) ?? "";
  return /^ref: refs\/heads\/([\w./+@#=-]{1,100})\s*$/.exec(head)?.[1];
}

function readRepository(root: string): Repository | undefined {
  const entry = join(root, ".git");
  const stats = readStats(entry);
  if (!stats) return isBare(root) ? toRepository(root, "bare", root) : undefined;
  if (stats.isDirectory()) return toRepository(root, "folder", entry);
  const place = toRealPlace(entry);
  const git = stats.isSymbolicLink() ? "link" : "file";
  if (git === "link" && readStats(place)?.isFile() !== true) return toRepository(root, git, place);
  const named = /^gitdir: ([^\0]+?)[\r\n]*$/.exec(readSmallFile(place, MAX_BYTES) ?? "")?.[1];
  return toRepository(root, git, named === undefined ? "" : toRealPlace(resolve(root, named)));
}

function toRepository(root: string, git: GitKind, gitFolder: string): Repository {
  const common = gitFolder === "" ? undefined : readSmallFile(join(gitFolder, "commondir"), MAX_BYTES);
  const named = common?.replace(/[\r\n]+$/, "");
  const commonFolder = named ? toRealPlace(resolve(gitFolder, named)) : gitFolder;
  return { root, git, gitFolder, commonFolder };
}

function toPlainFolder(root: string): Repository {
  return { root, git: "none", gitFolder: "", commonFolder: "" };
}

/** True for a bare repository. The inside of a `.git` folder looks the same, but is found from the folder above. */
function isBare(folder: string): boolean {
  return basename(folder) !== ".git" && hasRepositoryShape(folder);
}

/** True if git's `is_git_directory` accepts a folder of any name, or would with a further entry named `added`. */
export function hasRepositoryShape(folder: string, added = ""): boolean {
  const own = toComparable(added);
  const isThere = (name: string): boolean => own === name.toLowerCase() || readStats(join(folder, name)) !== undefined;
  return isThere("HEAD") && (isThere("commondir") || (isThere("objects") && isThere("refs")));
}

/** Returns a path without links, or unchanged if its target is missing. */
export function toRealPlace(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Describes the place itself, without following a link; undefined if it is missing. */
export function readStats(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
