/** HEAD, refs, stash and index of the user's repository as a part of a state. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseJson } from "@sheaf/protocol/check-value";
import { type GitState, readGitState } from "@sheaf/base/git/git-state";
import type { GitSetup } from "@sheaf/base/git/run-git";
import type { UndoStore } from "./undo-store.ts";

/** The folder's repository as git's own; undefined if the folder has no repository. */
export function toRepositorySetup({
  setup,
  repository,
  top,
}: Pick<UndoStore, "setup" | "repository" | "top">): GitSetup | undefined {
  const isThere = repository.root === top && repository.git !== "none" && repository.gitFolder !== "";
  return isThere ? { ...setup, gitFolder: repository.gitFolder } : undefined;
}

/** Differs once git has written one of its files: git replaces them, so folders of refs show it. */
export function toRepositoryPrint({ repository: { gitFolder, commonFolder } }: Pick<UndoStore, "repository">): string {
  const files = [
    ...["HEAD", "index"].map((name) => join(gitFolder, name)),
    ...["packed-refs", "config", "logs/refs/stash", "reftable", "reftable/tables.list"].map((name) =>
      join(commonFolder, name),
    ),
    ...listFolders(join(commonFolder, "refs")),
  ];
  return files.map(toPrint).join("\n");
}

function toPrint(file: string): string {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats ? `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}` : "";
}

function listFolders(folder: string): string[] {
  try {
    const inner = readdirSync(folder, { recursive: true, withFileTypes: true });
    return [folder, ...inner.flatMap((entry) => (entry.isDirectory() ? [join(entry.parentPath, entry.name)] : []))];
  } catch {
    return [];
  }
}

/** @throws SheafError INTERNAL */
export async function readRepositoryState(repository: GitSetup): Promise<string> {
  const { refs, index, branches, ...state } = await readGitState(repository);
  return JSON.stringify({ ...state, refs: [...refs], index: [...index], branches: [...branches] });
}

/** Undefined: no state was recorded. */
export function decodeRepositoryState(text: string): GitState | undefined {
  const state = parseJson(text) as
    | (Pick<GitState, "head" | "stashes"> & {
        readonly refs: [string, string][];
        readonly index: [string, string][];
        readonly branches: [string, Record<string, string>][];
      })
    | undefined;
  if (!state) return undefined;
  return { ...state, refs: new Map(state.refs), index: new Map(state.index), branches: new Map(state.branches) };
}

/** The checked-out commit; undefined before the first one. */
export function toHeadCommit({ head, refs }: GitState): string | undefined {
  return head.startsWith("refs/") ? refs.get(head) : head || undefined;
}
