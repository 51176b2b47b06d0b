/** Finds the places that searches leave out because rules deny reading them (S-243). */
import { join, posix } from "node:path";
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
  const has = (path: string): boolean => globs.some((glob) => glob.isCovering(toNamed(path)));
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
