/** Sheaf's own working tree: a folder with files of a commit, and a small repository for the commands in it (S-124). */
import { copyFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "@sheaf/base/make-folder";
import { removeTree } from "@sheaf/base/files/remove-tree";
import { askGit, type GitSetup } from "@sheaf/base/git/run-git";

/** The place of a tree, with Sheaf's data about it. */
export interface TreePlace {
  /** The folder that contains both. Absolute, no link. */
  readonly folder: string;
  /** The files that a conversation sees as its workspace. */
  readonly files: string;
  /** The private index, which no command reads or writes. */
  readonly index: string;
}

/** Commits that the commands in a tree can see: copying all of them may take long. */
const HISTORY = 50;

/** Time limit of a checkout, for a large tree on a slow disk. Milliseconds. */
const CHECKOUT_MS = 10 * 60_000;

export function toTreePlace(folder: string): TreePlace {
  return { folder, files: join(folder, "files"), index: join(folder, "index") };
}

export interface TreeStart {
  /** A commit of the mirror: `HEAD` of the tree's own repository. */
  readonly base: string;
  /** A later state of the same tree, as its files; undefined: those of `base`. */
  readonly state?: string | undefined;
  /** The branch that is checked out in it. */
  readonly branch: string;
}

/**
 * Makes the folder with the files of a commit in the mirror. Its `.git` is apart from the mirror and other trees,
 * because commands may write it. @throws SheafError INTERNAL, and then leaves no part of it.
 */
export async function createTree(
  mirror: GitSetup,
  place: TreePlace,
  { base, state, branch }: TreeStart,
): Promise<void> {
  const { files, index } = place;
  const ref = `refs/sheaf-start/${base}`;
  makeFolder(files);
  try {
    const tree = { ...mirror, gitFolder: join(realpathSync(files), ".git") };
    await askGit(mirror, ["update-ref", ref, base], { purpose: `name the commit ${base}` });
    await askGit(tree, ["init", "-q", "--template=", `--initial-branch=${branch}`], {
      purpose: `create ${files}`,
      workTree: files,
    });
    const words = ["fetch", "-q", "--no-tags", "--no-write-fetch-head", "--update-head-ok", `--depth=${HISTORY}`];
    await askGit(tree, [...words, "--", `file://${mirror.gitFolder}`, `+${ref}:refs/heads/${branch}`], {
      purpose: `copy the commit ${base}`,
      remote: { protocol: "file" },
      timeoutMs: CHECKOUT_MS,
    });
    // Filters have no program here, so files that LFS keeps elsewhere stay the few lines that name them.
    const checkout = { purpose: `check out ${base}`, workTree: files, timeoutMs: CHECKOUT_MS };
    await askGit(tree, ["read-tree", "-m", "-u", base], checkout);
    copyFileSync(join(tree.gitFolder, "index"), index);
    if (state === undefined || state === base) return;
    await askGit(mirror, ["read-tree", "-m", "-u", base, state], { ...checkout, index, purpose: `check out ${state}` });
  } catch (error) {
    for (const made of [files, index]) await removeTree(made);
    throw error;
  }
}
