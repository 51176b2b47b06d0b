/** The part of a repository that lies outside of a workspace which is one of its worktrees (`git worktree add`). */
import { readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import type { Mount } from "./mounts.ts";

/** What commits in a linked worktree need. */
export interface LinkedWorktree {
  /** The worktree's own folder in the repository, absolute. */
  readonly folder: string;
  /** Writable for commands; hooks and configuration of the repository are not among them. */
  readonly mounts: readonly Mount[];
}

/** Folders of the repository in which a commit writes. */
const commitPlaces = ["objects", "refs", "logs"] as const;

/**
 * Undefined if the workspace is none. What its `.git` file says counts only where the repository says the same: else
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

/** Not a link: that could lead anywhere. */
function isOwnFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true && realpathSync(path) === path;
}

/** The one line of a small file, as far as `pattern` takes it. @throws Error when it is another one. */
function readLine(file: string, pattern: RegExp): string {
  const [, text] = pattern.exec(readFileSync(file, "utf8").trimEnd()) ?? [];
  if (text === undefined) throw new Error(`${file} is not of git`);
  return text;
}

function toAbsolute(path: string, folder: string): string {
  return isAbsolute(path) ? path : join(folder, path);
}
