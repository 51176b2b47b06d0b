/** The working tree of one conversation of a server, and its states in the mirror and at the remote. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { SheafError } from "../../base/errors.ts";
import { replaceFile } from "../../base/replace-file.ts";
import { readSmallFile } from "../open-file.ts";
import { toHash } from "../read-file.ts";
import { fetchRefs, type Fetched, pushRefs, type Remote } from "./mirror.ts";
import { recordState } from "./record-state.ts";
import { askGit, type GitSetup, runGit } from "./run-git.ts";
import { createTree, removeTree, toTreePlace, type TreePlace } from "./working-tree.ts";

/** What a tree belongs to. */
export interface ConversationTree extends TreePlace {
  readonly mirror: GitSetup;
  /** The first part of its refs. */
  readonly refs: string;
}

/** What this process knows of a tree. */
interface TreeRecord {
  readonly base: string;
  /** The last recorded state. */
  readonly state: string;
  /** The response that it is the state after; undefined: none. */
  readonly after?: string | undefined;
  /** The response that began in it last: what it did before it was cut is in the files. */
  readonly running?: string | undefined;
  /** Milliseconds since 1970. */
  readonly usedAt: number;
}

/** In place of a response: the state after all have been reverted. */
export const START_STATE = "start";

const MAX_RECORD_BYTES = 64 * 1024;

/** Ids may come from clients. */
function toPlainName(id: string): string {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/.test(id) ? id : toHash(Buffer.from(id));
}

/** `folder`: that of all trees of the workspace. */
export function toConversationTree(mirror: GitSetup, folder: string, conversationId: string): ConversationTree {
  const name = toPlainName(conversationId);
  return { ...toTreePlace(join(folder, name)), mirror, refs: `refs/sheaf/${name}` };
}

/** The names of the trees that are here. */
export function listTreeNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Undefined: there is no whole tree. */
export function readConversationTree({ folder }: ConversationTree): TreeRecord | undefined {
  try {
    return JSON.parse(readSmallFile(join(folder, "tree.json"), MAX_RECORD_BYTES) ?? "") as TreeRecord;
  } catch {
    return undefined;
  }
}

function writeRecord({ folder }: ConversationTree, record: TreeRecord): void {
  replaceFile(join(folder, "tree.json"), `${JSON.stringify(record)}\n`);
}

export interface TreeOpening {
  /** Of the conversation, in order, without reverted ones. */
  readonly responses: readonly string[];
  /** That is about to run; undefined: none. */
  readonly running?: string | undefined;
  /** Where other servers push states; undefined: nowhere. */
  readonly stateRemote: Remote | undefined;
  /** The commit that a new conversation begins with. */
  readonly findBase: () => Promise<string>;
  readonly branch: string;
  readonly now: number;
}

/**
 * Makes the tree have the state after the last of the responses. `isNew`: its files were written just now.
 * @throws SheafError NETWORK when states of other servers cannot be fetched; INTERNAL.
 */
export async function openConversationTree(
  tree: ConversationTree,
  { responses, running, stateRemote, findBase, branch, now }: TreeOpening,
): Promise<{ readonly isNew: boolean }> {
  const last = responses.findLast((id) => id !== running);
  const known = readConversationTree(tree);
  const isReset = last === undefined && known?.after === START_STATE;
  const isCurrent = last === known?.after || isReset || (last !== undefined && last === known?.running);
  if (known && isCurrent) {
    writeRecord(tree, { ...known, running: running ?? known.running, usedAt: now });
    return { isNew: false };
  }
  if (last !== undefined && stateRemote) await fetchStates(tree, stateRemote);
  const state = await findState(tree, responses);
  const base = (await readRef(tree, "base")) ?? (await findBase());
  await removeTree(tree.folder);
  await createTree(tree.mirror, tree, { base, state, branch });
  await nameState(tree, "base", base);
  writeRecord(tree, { base, state: state ?? base, after: last, running, usedAt: now });
  return { isNew: true };
}

async function fetchStates({ mirror, refs }: ConversationTree, remote: Remote): Promise<void> {
  const fetched = await fetchRefs(mirror, remote, `+${refs}/*:${refs}/*`);
  if (fetched.ok) return;
  const message = "the repository that has the files of this conversation cannot be reached: try again later";
  throw new SheafError("NETWORK", message, { source: "server", details: fetched.reason });
}

/** The state after the last of these responses; undefined: none has changed a file. */
export async function findState(tree: ConversationTree, responses: readonly string[]): Promise<string | undefined> {
  for (const id of responses.toReversed()) {
    const commit = await readRef(tree, toPlainName(id));
    if (commit !== undefined) return commit;
  }
  return undefined;
}

async function readRef({ mirror, refs }: ConversationTree, name: string): Promise<string | undefined> {
  const found = await runGit(mirror, [
    "rev-parse",
    "--verify",
    "--quiet",
    "--end-of-options",
    `${refs}/${name}^{commit}`,
  ]);
  return found.exitCode === 0 ? found.stdout.toString().trim() : undefined;
}

export async function nameState({ mirror, refs }: ConversationTree, id: string, commit: string): Promise<void> {
  await askGit(mirror, ["update-ref", `${refs}/${toPlainName(id)}`, commit], { purpose: "name a state" });
}

export interface TreeRecording {
  /** The response that the state is after. */
  readonly responseId: string;
  readonly stateRemote: Remote | undefined;
  readonly now: number;
}

/** What became of a recording. */
export interface TreeRecorded {
  readonly state: string;
  readonly leftOut: readonly string[];
  /** Why other servers cannot get the state; undefined: they can, or none is to. */
  readonly problem?: string | undefined;
}

/** Records and pushes the state, if anything has changed. @throws SheafError INTERNAL when there is no tree. */
export async function recordConversationTree(
  tree: ConversationTree,
  { responseId, stateRemote, now }: TreeRecording,
): Promise<TreeRecorded> {
  const known = readConversationTree(tree);
  if (!known) throw new SheafError("INTERNAL", `there is no working tree in ${tree.folder}`);
  const message = `State after ${responseId}\n`;
  const { commit, leftOut } = await recordState(tree.mirror, tree, { parent: known.state, message, now });
  if (commit !== known.state) await nameState(tree, responseId, commit);
  writeRecord(tree, { ...known, state: commit, after: responseId, running: responseId, usedAt: now });
  if (commit === known.state || !stateRemote) return { state: commit, leftOut };
  const pushed: Fetched = await pushRefs(tree.mirror, stateRemote, [`+${tree.refs}/*:${tree.refs}/*`]);
  return { state: commit, leftOut, ...(!pushed.ok && { problem: pushed.reason }) };
}

/** Removes the tree, and all its states, here and at the remote. */
export async function forgetConversationTree(tree: ConversationTree, stateRemote: Remote | undefined): Promise<void> {
  await removeTree(tree.folder);
  const words = ["for-each-ref", "--format=%(refname)", `${tree.refs}/`];
  const names = (await runGit(tree.mirror, words)).stdout.toString().split("\n").filter(Boolean);
  for (const name of names) await runGit(tree.mirror, ["update-ref", "-d", name]);
  if (stateRemote && names.length > 0) {
    // One that is not there would keep the others.
    for (const name of names) await pushRefs(tree.mirror, stateRemote, [`:${name}`]);
  }
}
