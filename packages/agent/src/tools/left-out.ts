/** Finds the places that searches leave out because rules deny reading them (S-243). */
import { join, posix, relative, resolve } from "node:path";
import { listFiles } from "@sheaf/base/files/list-files";
import { readStats } from "@sheaf/base/files/repository";
import type { LeftOut, Workspace } from "@sheaf/base/files/workspace";
import type { PathGlob } from "@sheaf/base/files/glob";

/**
 * Creates the places to leave out, or undefined without `globs`, the rules against reading in this workspace. In a
 * folder that the user added (`isAdded`), a rule about a path applies from each folder above on, as in a call.
 */
export function createLeftOut(
  globs: readonly PathGlob[],
  workspace: Pick<Workspace, "root" | "resolve">,
  isAdded: boolean,
): LeftOut | undefined {
  if (globs.length === 0) return undefined;
  const paths = new Set<string>();
  const toNamed = (path: string): string => (isAdded ? join(workspace.root, path) : path);
  const isCovered = (path: string): boolean => globs.some((glob) => glob.isCovering(toNamed(path)));
  let linked: ReadonlySet<string> | undefined;
  const has = (path: string): boolean => {
    if (isCovered(path)) return true;
    const identity = findLinked(resolve(workspace.root, path));
    return identity !== undefined && (linked ??= listLinked(workspace.root, isCovered)).has(identity);
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
    mayHold: (folder) => globs.some((glob) => glob.mayMatchBelow(toNamed(folder))),
  };
}

/** Returns device and inode of a file with several names (hard links); undefined for all others. */
function findLinked(path: string): string | undefined {
  const stats = readStats(path);
  return stats?.isFile() && stats.nlink > 1 ? `${stats.dev} ${stats.ino}` : undefined;
}

/** Returns the files with several names of which a rule denies one. Reads many folders. */
function listLinked(root: string, isCovered: (path: string) => boolean): ReadonlySet<string> {
  const denied = listFiles(root).filter((path) => isCovered(relative(root, path)));
  return new Set(denied.flatMap((path) => findLinked(path) ?? []));
}
