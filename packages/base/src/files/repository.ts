/** Which repository a folder belongs to, found by reading files, without starting git (S-02, S-05). */
import { lstatSync, realpathSync, type Stats } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { toComparable } from "./comparable-name.ts";
import { readSmallFile } from "./open-file.ts";

/** Files such as `.git`, `commondir` and `HEAD` contain one line; as for git, line ends at its end do not count. */
const MAX_BYTES = 8192;

/**
 * What `.git` is: a folder, a file that names one (a worktree or a submodule), a link, the folder itself (a bare
 * repository), or nothing.
 */
type GitKind = "folder" | "file" | "link" | "bare" | "none";

/** The repository of a folder. Two are the same only if all of it is equal. */
export interface Repository {
  /** Real path. Without a repository: the folder itself. */
  readonly root: string;
  readonly git: GitKind;
  /** Where git keeps what belongs to this checkout, links resolved; "" if there is none. */
  readonly gitFolder: string;
  /** Where git keeps its settings and hooks; differs from `gitFolder` in worktrees. */
  readonly commonFolder: string;
}

/**
 * The repository of a folder: that of the nearest `.git`, or bare repository, at or above it. One that belongs
 * to another user than the folder does not count, as for git. `folder` is a real path.
 */
export function findRepository(folder: string): Repository {
  const repository = findNearestRepository(folder);
  const isOwn = readStats(repository.root)?.uid === readStats(folder)?.uid;
  return isOwn ? repository : toPlainFolder(folder);
}

/**
 * The repositories that git may use in a folder: the nearest one, whoever owns it, and those around it as long as git may
 * pass over one for being incomplete. Without one: the folder itself. `folder` is a real path.
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

/** Git can be told to accept a repository of another user. */
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

/** The branch that is checked out; undefined for none, and for a name that git would not make. */
export function readBranch({ root, gitFolder }: Repository): string | undefined {
  // A file `.git` can name any folder: other places are not read.
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

/** A `.git` folder looks the same from inside; it is found from the folder above. */
function isBare(folder: string): boolean {
  return basename(folder) !== ".git" && hasRepositoryShape(folder);
}

/**
 * True if git takes a folder for a repository, whatever its name (its `is_git_directory`), or would if it also contained
 * an entry named `added`.
 */
export function hasRepositoryShape(folder: string, added = ""): boolean {
  const own = toComparable(added);
  const isThere = (name: string): boolean => own === name.toLowerCase() || readStats(join(folder, name)) !== undefined;
  return isThere("HEAD") && (isThere("commondir") || (isThere("objects") && isThere("refs")));
}

/** A path without links; as written if it leads nowhere. */
export function toRealPlace(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Of the place itself, not of a link's target; undefined if nothing is there. */
export function readStats(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
