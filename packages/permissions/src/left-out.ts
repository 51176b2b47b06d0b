/** Finds the places that searches leave out because rules deny reading them (S-243). */
import { readdirSync } from "node:fs";
import { join, posix } from "node:path";
import { readStats } from "@sheaf/base/files/repository";
import type { LeftOut, Workspace } from "@sheaf/base/files/workspace";
import type { PathGlob } from "@sheaf/base/files/glob";

/**
 * `globs`: the rules against reading, for paths of this workspace. None: undefined. `isAdded`: the user added this folder,
 * in which a rule about a path applies from each of the folders above on, as for a call that names a file there.
 */
export function createLeftOut(globs: readonly PathGlob[], workspace: Workspace, isAdded: boolean): LeftOut | undefined {
  if (globs.length === 0) return undefined;
  const paths = new Set<string>();
  const toNamed = (path: string): string => (isAdded ? join(workspace.root, path) : path);
  const isCovered = (path: string): boolean => globs.some((glob) => glob.isCovering(toNamed(path)));
  const mayHold = (folder: string): boolean => globs.some((glob) => glob.mayMatchBelow(toNamed(folder)));
  let linked: ReadonlySet<string> | undefined;
  const has = (path: string): boolean => {
    if (isCovered(path)) return true;
    const identity = findLinked(join(workspace.root, path));
    return identity !== undefined && (linked ??= listLinked(workspace.root, isCovered, mayHold)).has(identity);
  };
  // A walk opens a folder only if it isn't one of the places, so the name decides.
  const hasEntry = (path: string): boolean =>
    globs.some((glob) => glob.isCovering(glob.isAnyDepth ? posix.basename(path) : toNamed(path)));
  const isLinked = (path: string): boolean => {
    const resolved = workspace.resolve(path);
    return resolved.ok && has(resolved.path.relative);
  };
  return {
    paths,
    has,
    meet(path, isLink) {
      const isLeftOut = hasEntry(path) || (isLink && isLinked(path));
      if (isLeftOut) paths.add(path);
      return isLeftOut;
    },
    mayHold,
  };
}

/** Device and inode of a file with several names (hard links); undefined for all others. */
function findLinked(path: string): string | undefined {
  const stats = readStats(path);
  return stats?.isFile() && stats.nlink > 1 ? `${stats.dev} ${stats.ino}` : undefined;
}

/** The files with several names of which a rule denies one. Reads many folders. */
function listLinked(
  root: string,
  isCovered: (path: string) => boolean,
  mayHold: (folder: string) => boolean,
): ReadonlySet<string> {
  const found = new Set<string>();
  const waiting = ["."];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of readEntries(join(root, folder))) {
      const path = posix.join(folder, entry.name);
      const isDenied = isCovered(path);
      if (entry.isDirectory() && (isDenied || mayHold(path))) waiting.push(path);
      const identity = isDenied ? findLinked(join(root, path)) : undefined;
      if (identity !== undefined) found.add(identity);
    }
  }
  return found;
}

/** Skips a folder that this user cannot read. */
function readEntries(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
