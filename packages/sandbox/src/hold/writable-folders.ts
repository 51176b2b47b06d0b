/** What commands write besides the workspace: folders of `--add-dir`, and the repository of a linked worktree. */
import { realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, sep } from "node:path";
import type { Environment } from "@sheaf/base/paths";
import { SheafError } from "@sheaf/base/errors";
import { hasForeignName } from "@sheaf/base/foreign-name";
import { readSmallFile } from "@sheaf/base/files/open-file";
import { toProtectedName } from "@sheaf/base/files/protected-names";
import { isBelow } from "@sheaf/base/files/workspace";
import { type Mount, toExistingPath } from "./mounts.ts";
import { listHomes, listSecretPlaces } from "./secret-places.ts";

export interface AddedFoldersOrder {
  /** Absolute, as the user named them. */
  readonly folders: readonly string[];
  /** Absolute, links resolved. */
  readonly workspace: string;
  readonly environment: Environment;
}

/**
 * The folders without links, outer ones only. Folders in the workspace need no flag.
 * @throws SheafError USAGE for a folder that does not exist, or that would expose too much.
 */
export function toAddedFolders({ folders, workspace, environment }: AddedFoldersOrder): string[] {
  const real = [...new Set(folders.map(toRealFolder))].filter((folder) => !isBelow(folder, workspace));
  for (const folder of real) {
    const obstacle = findObstacle(folder, workspace, environment);
    if (obstacle !== "") throw createError(folder, obstacle);
  }
  return real.filter((folder) => !real.some((other) => other !== folder && isBelow(folder, other)));
}

function toRealFolder(folder: string): string {
  try {
    const real = realpathSync(folder);
    if (statSync(real).isDirectory()) return real;
  } catch {
    if (hasForeignName(folder)) {
      const message = `--add-dir ${JSON.stringify(folder)} cannot be opened, because its name is not UTF-8: rename the folder`;
      throw new SheafError("USAGE", message);
    }
    throw createError(folder, "does not exist or cannot be opened");
  }
  throw createError(folder, "is not a folder");
}

/** Why a folder must not be added; "" if it may be. */
function findObstacle(folder: string, workspace: string, environment: Environment): string {
  if (folder === sep) return "is the whole file system";
  const homes = listHomes(environment).map((home) => toExistingPath(home) ?? home);
  if (homes.some((home) => isBelow(home, folder))) return "is the home folder or contains it";
  if (isBelow(workspace, folder)) return "contains the workspace: name it with --workspace";
  const secrets = listSecretPlaces(environment).map((place) => toExistingPath(place) ?? place);
  const secret = secrets.find((place) => isBelow(place, folder) || isBelow(folder, place));
  if (secret !== undefined) return `overlaps ${secret}, which is secret`;
  const name = toProtectedName(folder, "folder");
  return name === undefined ? "" : `is in a protected place (${name})`;
}

function createError(folder: string, problem: string): SheafError {
  return new SheafError("USAGE", `--add-dir ${JSON.stringify(folder)} ${problem}: name another folder`);
}

/** What commits in a linked worktree (`git worktree add`) need outside the workspace. */
export interface LinkedWorktree {
  /** The worktree's folder in the repository, absolute. */
  readonly folder: string;
  /** Writable for commands; the repository's hooks and configuration are not among them. */
  readonly mounts: readonly Mount[];
}

/** Folders of the repository in which a commit writes. */
const commitPlaces = ["objects", "refs", "logs"] as const;

/**
 * Undefined if the workspace is not one. Its `.git` file counts only if the repository lists the worktree too: otherwise
 * a file could name any folder of the user.
 */
export function findLinkedWorktree(workspace: string): LinkedWorktree | undefined {
  try {
    const file = join(workspace, ".git");
    if (!statSync(file).isFile()) return undefined;
    const folder = realpathSync(toAbsolute(readLine(file, /^gitdir: (.+)$/), workspace));
    const repository = realpathSync(toAbsolute(readLine(join(folder, "commondir"), /^(.+)$/), folder));
    const isListed = dirname(folder) === join(repository, "worktrees") && basename(repository) !== "worktrees";
    const isMutual = realpathSync(readLine(join(folder, "gitdir"), /^(\/.+)$/)) === realpathSync(file);
    if (!isListed || !isMutual) return undefined;
    const shared = commitPlaces.map((name) => join(repository, name)).filter(isOwnFolder);
    return { folder, mounts: [...shared, folder].map((path) => ({ path, access: "writable" as const })) };
  } catch {
    return undefined;
  }
}

/** Not a link, which could lead anywhere. */
function isOwnFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true && realpathSync(path) === path;
}

/** Of a path, and what is around it. */
const maxBytes = 8192;

/** The capture of `pattern` in the one line of a small file. @throws Error when the pattern does not match. */
function readLine(file: string, pattern: RegExp): string {
  const [, text] = pattern.exec(readSmallFile(file, maxBytes)?.trimEnd() ?? "") ?? [];
  if (text === undefined) throw new Error(`${file} is not of git`);
  return text;
}

function toAbsolute(path: string, folder: string): string {
  return isAbsolute(path) ? path : join(folder, path);
}
