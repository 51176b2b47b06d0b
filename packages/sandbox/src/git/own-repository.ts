/** Finds the repository of a folder that commands write, if it is certainly the user's (S-77). */
import { basename, dirname, join, resolve } from "node:path";
import { readSmallFile } from "@sheaf/base/files/open-file";
import { findRepository, readStats, type Repository, toRealPlace } from "@sheaf/base/files/repository";
import { isBelow } from "@sheaf/base/files/workspace";
import { parseGitConfig } from "@sheaf/base/git/git-config";

/** Bytes of a configuration, and of a file with one path. */
const maxBytes = 1024 * 1024;

/**
 * Returns the repository of a folder. If a file points to the repository, git must have made both sides, as for a
 * linked worktree or a submodule. Returns undefined for a folder without a repository, or with a link to one. `folder`
 * is absolute, links resolved.
 */
export function findOwnRepository(folder: string): Repository | undefined {
  const repository = findRepository(folder);
  const { git, gitFolder, commonFolder } = repository;
  if (git === "none" || git === "link" || !isComplete(repository)) return undefined;
  const owner = readStats(folder)?.uid;
  if ([gitFolder, commonFolder].some((place) => readStats(place)?.uid !== owner)) return undefined;
  if (git === "file") return isLinkedWorktree(repository) || isSubmodule(repository) ? repository : undefined;
  return gitFolder === commonFolder ? repository : undefined;
}

function isComplete({ gitFolder, commonFolder }: Repository): boolean {
  const isFolder = (name: string): boolean => readStats(join(commonFolder, name))?.isDirectory() === true;
  return readStats(join(gitFolder, "HEAD"))?.isFile() === true && isFolder("refs") && isFolder("objects");
}

/** True if the repository lists the worktree in turn: otherwise a file could point to any folder of the user. */
function isLinkedWorktree({ root, gitFolder, commonFolder }: Repository): boolean {
  const named = readSmallFile(join(gitFolder, "gitdir"), maxBytes)?.trimEnd();
  const isListed = dirname(gitFolder) === join(commonFolder, "worktrees") && basename(commonFolder) !== "worktrees";
  return isListed && named !== undefined && toRealPlace(resolve(gitFolder, named)) === join(root, ".git");
}

/** True if the repository around contains the submodule's folder, and that folder's setting points back. */
function isSubmodule({ root, gitFolder, commonFolder }: Repository): boolean {
  const around = findRepository(dirname(root));
  if (around.git === "none" || gitFolder !== commonFolder || !isBelow(gitFolder, join(around.gitFolder, "modules")))
    return false;
  const settings = parseGitConfig(readSmallFile(join(gitFolder, "config"), maxBytes) ?? "");
  const tree = settings.findLast(({ key }) => key === "core.worktree")?.value;
  return tree !== undefined && toRealPlace(resolve(gitFolder, tree)) === root;
}
