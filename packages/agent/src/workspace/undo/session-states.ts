/** The files of a workspace before and after a session. */
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { askGit, type GitSetup } from "@sheaf/base/git/run-git";
import type { Environment } from "@sheaf/base/paths";
import { findProgram } from "@sheaf/sandbox/programs";
import { listTreeChanges, type TreeEntry } from "../trees/list-tree-changes.ts";
import { EMPTY_TREE } from "./folder-states.ts";
import { readChain } from "./read-states.ts";
import { listUndoStores, toStateRef } from "./undo-store.ts";

export interface SessionPlace {
  readonly conversationId: string;
  readonly responseIds: readonly string[];
  /** Absolute path of the workspace. */
  readonly workspace: string;
  readonly dataFolder: string;
  readonly environment: Environment;
}

/** The states of a session in its workspace. */
export interface SessionStates {
  /** Files before the session's first effect. */
  readonly start: readonly StateFile[];
  /** Files after its last effect. */
  readonly end: readonly StateFile[];
  /** Returns the content; for a link, its target. */
  read(file: StateFile): Promise<Buffer>;
}

/** A file of a state. */
export interface StateFile extends TreeEntry {
  /** Path relative to the workspace, with `/`. */
  readonly path: string;
}

/** Reads the states; undefined if the session made no changes, or Sheaf forgot them. @throws SheafError INTERNAL. */
export async function readSessionStates(place: SessionPlace): Promise<SessionStates | undefined> {
  const { conversationId, responseIds, workspace, dataFolder, environment } = place;
  const program = findProgram("git", environment);
  const store = listUndoStores(dataFolder).find(({ root }) => root === workspace);
  if (!program || !store) return undefined;
  const setup: GitSetup = { program, environment, gitFolder: store.gitFolder };
  const refs = responseIds.map((id) => toStateRef(conversationId, id));
  const kept = refs.filter((ref) => existsSync(join(store.gitFolder, ref)));
  if (kept.length === 0) return undefined;
  const list = async (tree: string | undefined): Promise<StateFile[]> =>
    (await listTreeChanges(setup, EMPTY_TREE, tree ?? EMPTY_TREE)).flatMap(({ path, after }) => {
      const inside = relative(workspace, join(store.top, path));
      return after && after.kind !== "repository" && !inside.startsWith("..") ? [{ ...after, path: inside }] : [];
    });
  const [first] = await readChain(setup, kept[0]!);
  const last = (await readChain(setup, kept.at(-1)!)).at(-1);
  return {
    start: await list(first?.files),
    end: await list(last?.files),
    read: ({ id }) => askGit(setup, ["cat-file", "blob", id], { purpose: "read a state" }),
  };
}

/** Lists the files that differ at the end, by their paths; null for a deleted file. */
export function listChangedFiles({ start, end }: Pick<SessionStates, "start" | "end">): Map<string, StateFile | null> {
  const before = new Map(start.map((file) => [file.path, file.id]));
  const changed = new Map<string, StateFile | null>();
  for (const file of end) {
    if (before.get(file.path) !== file.id) changed.set(file.path, file);
    before.delete(file.path);
  }
  for (const path of before.keys()) changed.set(path, null);
  return changed;
}
