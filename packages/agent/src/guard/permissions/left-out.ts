/** Finds the places that searches leave out because rules deny reading them (S-243). */
import { join, relative } from "node:path";
import type { LeftOut, Workspace } from "../../workspace/workspace.ts";
import type { PathGlob } from "./glob.ts";

/**
 * `globs`: of the rules against reading; none: undefined. `isAdded`: the workspace is a folder that the user added, in
 * which a rule about a path applies from each of the folders above on, as for a call that names a file there.
 */
export function createLeftOut(globs: readonly PathGlob[], workspace: Workspace, isAdded: boolean): LeftOut | undefined {
  if (globs.length === 0) return undefined;
  const paths = new Set<string>();
  const matches = (path: string, isMatch: (glob: PathGlob, name: string) => boolean): boolean => {
    const absolute = join(workspace.root, path);
    const isPlaced = (glob: PathGlob): boolean => !glob.isAnyDepth && isMatch(glob, relative("/", absolute));
    // A rule may also say where the workspace is.
    return globs.some((glob) => isMatch(glob, isAdded ? absolute : path) || isPlaced(glob));
  };
  const has = (path: string): boolean => matches(path, (glob, name) => glob.isCovering(name));
  const isLinked = (path: string): boolean => {
    const resolved = workspace.resolve(path);
    return resolved.ok && has(resolved.path.relative);
  };
  return {
    paths,
    has,
    meet(path, isLink) {
      const isLeftOut = has(path) || (isLink && isLinked(path));
      if (isLeftOut) paths.add(path);
      return isLeftOut;
    },
    mayHold: (folder) => matches(folder, (glob, name) => glob.mayMatchBelow(name)),
  };
}
