/** Notices which files a command changed that git's hooks, CI or other agents start outside the sandbox (S-245). */
import { join, relative } from "node:path";
import { listEntries } from "@sheaf/base/files/list-files";
import { readSmallFile } from "@sheaf/base/files/open-file";
import { findRepository, readStats } from "@sheaf/base/files/repository";
import { describeStartedFiles, findStarter } from "@sheaf/base/files/started-files";
import { isBelow } from "@sheaf/base/files/workspace";

/** Most files to compare, so that a look takes less than a millisecond. */
const maxFiles = 200;
const maxDepth = 3;
/** Bytes of a hook. */
const maxHook = 64 * 1024;

/** Folders in which some files start programs outside the sandbox. */
const mixedFolders: ReadonlySet<string> = new Set([".github", ".gitea", ".forgejo", ".gitlab"]);

export interface StartedFiles {
  /** Remembers the files as they are now. */
  look(): void;
  /** Compares the files with the last look. Has a sentence about the changes, and looks again. */
  compare(): string[];
}

/** Watches files at the top of the workspace and in a few folders, and scripts that the user's git hooks run. */
export function createStartedFiles(workspace: string): StartedFiles {
  let before: ReadonlyMap<string, string> | undefined;
  return {
    look: () => void (before = readStates(workspace)),
    compare() {
      const then = before;
      if (!then) return [];
      const now = readStates(workspace);
      before = now;
      const changed = [...new Set([...then.keys(), ...now.keys()])].filter((name) => then.get(name) !== now.get(name));
      const sentence = describeStartedFiles(changed, listScripts(workspace));
      return sentence === undefined ? [] : [sentence];
    },
  };
}

function readStates(workspace: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const name of [...listFiles(workspace, "", 0), ...listScripts(workspace)].slice(0, maxFiles)) {
    const stats = readStats(join(workspace, name));
    if (stats) found.set(name, `${stats.ino}:${stats.size}:${stats.mtimeMs}:${stats.ctimeMs}`);
  }
  return found;
}

function listFiles(workspace: string, folder: string, depth: number): string[] {
  return listEntries(join(workspace, folder)).flatMap((entry) => {
    const name = join(folder, entry.name);
    if (!entry.isDirectory()) return findStarter(name) === undefined ? [] : [name];
    const isWanted = mixedFolders.has(name.split("/")[0]!) || findStarter(name) !== undefined;
    return isWanted && depth < maxDepth ? listFiles(workspace, name, depth + 1) : [];
  });
}

/** Lists files of the workspace that hooks in the git folder mention, by relative path. */
function listScripts(workspace: string): string[] {
  const { root, commonFolder } = findRepository(workspace);
  if (commonFolder === "") return [];
  const hooks = listEntries(join(commonFolder, "hooks")).filter(({ name }) => !name.endsWith(".sample"));
  const words = hooks.flatMap(
    ({ name }) => readSmallFile(join(commonFolder, "hooks", name), maxHook)?.split(/[\s"'`;&|()<>=$]+/) ?? [],
  );
  const paths = [...new Set(words)].filter((word) => word.includes("/")).map((word) => join(root, word));
  const inside = paths.filter((path) => path !== workspace && isBelow(path, workspace) && readStats(path)?.isFile());
  return inside.slice(0, maxFiles).map((path) => relative(workspace, path));
}
