/** The working tree of one conversation of a server, and its states in the mirror and at the remote. */
import { join } from "node:path";
import { parseJson } from "@sheaf/protocol/check-value";
import { SheafError } from "@sheaf/base/errors";
import { replaceFile } from "@sheaf/base/replace-file";
import { readSmallFile } from "@sheaf/base/files/open-file";
import { toIdName } from "../conversation-folders.ts";
import { fetchRefs, type Fetched, listRemoteRefs, pushRefs, readCommit, type Remote } from "./mirror.ts";
import { recordState } from "./record-state.ts";
import { askGit, type GitSetup, runGit } from "@sheaf/base/git/run-git";
import { removeTree } from "@sheaf/base/files/remove-tree";
import { createTree, toTreePlace, type TreePlace } from "./working-tree.ts";

export interface ConversationTree extends TreePlace {
  readonly mirror: GitSetup;
  /** The first part of its refs. */
  readonly refs: string;
}

/** The record that this process keeps of a tree. */
interface TreeRecord {
  readonly base: string;
  /** The last recorded state. */
  readonly state: string;
  /** The response that it is the state after; undefined: none. */
  readonly after?: string | undefined;
  /** The response that started in it last: its changes before the cut are in the files. */
  readonly running?: string | undefined;
  /** True if the last push worked; undefined before the first push. */
  readonly isPushed?: boolean | undefined;
  /** Milliseconds since 1970. */
  readonly usedAt: number;
}

/** In place of a response: the state after all have been reverted. */
export const START_STATE = "start";

const MAX_RECORD_BYTES = 64 * 1024;

/** `folder` has all trees of the workspace. */
export function toConversationTree(mirror: GitSetup, folder: string, conversationId: string): ConversationTree {
  const name = toIdName(conversationId);
  return { ...toTreePlace(join(folder, name)), mirror, refs: `refs/sheaf/${name}` };
}

/** The ref of the commit that the conversation has published on a branch. */
export function toPublishedRef({ refs }: Pick<ConversationTree, "refs">, branch: string): string {
  return `${refs}/published/${branch}`;
}

/** Undefined without a whole tree. */
export function readConversationTree({ folder }: ConversationTree): TreeRecord | undefined {
  return parseJson(readSmallFile(join(folder, "tree.json"), MAX_RECORD_BYTES) ?? "") as TreeRecord | undefined;
}

function writeRecord({ folder }: ConversationTree, record: TreeRecord): void {
  replaceFile(join(folder, "tree.json"), `${JSON.stringify(record)}\n`);
}

export interface TreeOpening {
  /** Ids of the conversation's responses, in order, without reverted ones. */
  readonly responses: readonly string[];
  /** Id of the response that is about to run; undefined: none. */
  readonly running?: string | undefined;
  /** The server that ran it is lost, and this one continues it. */
  readonly takesOver?: boolean | undefined;
  /** The repository to which other servers push states; undefined: they push no states. */
  readonly stateRemote: Remote | undefined;
  /** The commit that a new conversation starts with. */
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
  { responses, running, takesOver = false, stateRemote, findBase, branch, now }: TreeOpening,
): Promise<{ readonly isNew: boolean }> {
  const last = responses.findLast((id) => id !== running);
  const known = readConversationTree(tree);
  const isReset = last === undefined && known?.after === START_STATE;
  if (known && !takesOver && (last === known.after || isReset) && (await isOwn(tree, known, stateRemote))) {
    writeRecord(tree, { ...known, running: running ?? known.running, usedAt: now });
    return { isNew: false };
  }
  if (stateRemote && (takesOver || last !== undefined)) await fetchStates(tree, stateRemote);
  const cut = takesOver ? running : last;
  // A cut response left its changes here, unless another server has continued it.
  const own = known && cut === known.running && (await isNewest(tree, known)) ? known : undefined;
  const base = (await readRef(tree, "base")) ?? (await findBase());
  await nameState(tree, "base", base);
  const from = own?.state ?? (await findState(tree, responses)) ?? base;
  const claim = takesOver && running !== undefined && stateRemote && { responseId: running, from, stateRemote, now };
  const state = claim ? await claimState(tree, claim) : from;
  const record = { base, state, after: last, running, usedAt: now, ...(claim && { isPushed: true }) };
  if (own && (state === from || (await readCommit(tree.mirror, `${state}~1`)) === from)) {
    writeRecord(tree, { ...own, ...record, after: own.after, running: running ?? own.running });
    return { isNew: false };
  }
  await removeTree(tree.folder);
  await createTree(tree.mirror, tree, { base, state, branch });
  writeRecord(tree, record);
  return { isNew: true };
}

/** If its push failed, another server may have continued the response that the state is after. */
async function isOwn(tree: ConversationTree, { after, isPushed, state }: TreeRecord, stateRemote: Remote | undefined) {
  if (!stateRemote || isPushed !== false || after === undefined) return true;
  const ref = `${tree.refs}/${toIdName(after)}`;
  const pushed = (await listRemoteRefs(tree.mirror, stateRemote, ref))?.get(ref);
  return pushed === undefined || isAncestor(tree, pushed, state);
}

/** True if the state of the response that ran here last is still this server's. */
async function isNewest(tree: ConversationTree, { running, state }: TreeRecord): Promise<boolean> {
  const named = await readRef(tree, toIdName(running!));
  if (named === undefined || named === state) return true;
  return isAncestor(tree, named, state);
}

/** Returns false for a commit that is not here. */
async function isAncestor({ mirror }: ConversationTree, one: string, other: string): Promise<boolean> {
  return (await runGit(mirror, ["merge-base", "--is-ancestor", one, other])).exitCode === 0;
}

interface Claim {
  readonly responseId: string;
  readonly from: string;
  readonly stateRemote: Remote;
  readonly now: number;
}

/** Number of times that the server that was lost may record a state in between. */
const MAX_CLAIMS = 3;

/**
 * Pushes a commit after the newest state, and returns it. From then on, a lost server that returns can push no more
 * states, because its states do not follow this commit. @throws SheafError NETWORK.
 */
async function claimState(tree: ConversationTree, { responseId, from, stateRemote, now }: Claim): Promise<string> {
  const ref = `${tree.refs}/${toIdName(responseId)}`;
  const base = `${tree.refs}/base`;
  for (let tries = 1, newest = from; ; tries += 1) {
    const words = ["commit-tree", `${newest}^{tree}`, "-p", newest, "-F", "-"];
    const input = `Another server continues ${responseId}\n`;
    const made = await askGit(tree.mirror, words, { purpose: "claim the state", input, now });
    const claim = made.toString().trim();
    const pushed = await pushRefs(tree.mirror, stateRemote, [`${base}:${base}`, `${claim}:${ref}`]);
    if (pushed.ok) {
      await nameState(tree, responseId, claim);
      return claim;
    }
    await fetchStates(tree, stateRemote);
    const found = await readRef(tree, toIdName(responseId));
    if (tries < MAX_CLAIMS && found !== undefined && found !== newest) newest = found;
    else throw createUnreachableError(pushed.reason);
  }
}

/** Brings the states that other servers pushed. @throws SheafError NETWORK. */
export async function fetchStates({ mirror, refs }: ConversationTree, remote: Remote): Promise<void> {
  const fetched = await fetchRefs(mirror, remote, `+${refs}/*:${refs}/*`);
  if (!fetched.ok) throw createUnreachableError(fetched.reason);
}

function createUnreachableError(details: string): SheafError {
  const message = "the repository that has the files of this conversation cannot be reached: try again later";
  return new SheafError("NETWORK", message, { source: "server", details });
}

/** The state after the last of these responses; undefined if no response has changed a file. */
export async function findState(tree: ConversationTree, responses: readonly string[]): Promise<string | undefined> {
  for (const id of responses.toReversed()) {
    const commit = await readRef(tree, toIdName(id));
    if (commit !== undefined) return commit;
  }
  return undefined;
}

function readRef({ mirror, refs }: ConversationTree, name: string): Promise<string | undefined> {
  return readCommit(mirror, `${refs}/${name}`);
}

export async function nameState({ mirror, refs }: ConversationTree, id: string, commit: string): Promise<void> {
  await askGit(mirror, ["update-ref", `${refs}/${toIdName(id)}`, commit], { purpose: "name a state" });
}

export interface TreeRecording {
  /** The response that the state is after, or of. */
  readonly responseId: string;
  /** True while the response continues. */
  readonly isRunning?: boolean | undefined;
  readonly stateRemote: Remote | undefined;
  readonly now: number;
}

export interface TreeRecorded {
  readonly leftOut: readonly string[];
  /** The reason why other servers cannot get the state; undefined if they can, or need not. */
  readonly problem?: string | undefined;
}

/** Records and pushes the state, if a file has changed. @throws SheafError INTERNAL without a tree. */
export async function recordConversationTree(
  tree: ConversationTree,
  { responseId, isRunning = false, stateRemote, now }: TreeRecording,
): Promise<TreeRecorded> {
  const known = readConversationTree(tree);
  if (!known) throw new SheafError("INTERNAL", `the folder ${tree.folder} has no working tree`);
  const message = `State ${isRunning ? "in" : "after"} ${responseId}\n`;
  const { commit, leftOut } = await recordState(tree.mirror, tree, { parent: known.state, message, now });
  const hasChanged = commit !== known.state;
  if (hasChanged) await nameState(tree, responseId, commit);
  const after = isRunning ? known.after : responseId;
  const record = { ...known, state: commit, after, running: responseId, usedAt: now };
  writeRecord(tree, record);
  if (!stateRemote || (!hasChanged && known.isPushed !== false)) return { leftOut };
  const pushed = await pushStates(tree, stateRemote, known, responseId);
  if (pushed.ok !== known.isPushed) writeRecord(tree, { ...record, isPushed: pushed.ok });
  return { leftOut, ...(!pushed.ok && { problem: pushed.reason }) };
}

/**
 * States must follow the remote's states; if they do not, another server has continued their responses.
 * This makes up for failed pushes, and pushes no state after states that the remote refused.
 */
async function pushStates(
  { mirror, refs }: ConversationTree,
  remote: Remote,
  { running, isPushed = false }: TreeRecord,
  responseId: string,
): Promise<Fetched> {
  const own = `${refs}/${toIdName(responseId)}`;
  // `publish` itself notes its commit there: another server may have published since.
  const isState = (name: string): boolean => !name.startsWith(toPublishedRef({ refs }, ""));
  const names = isPushed ? [own] : (await listRefs({ mirror, refs })).filter(isState);
  const missed = names.filter((name) => name !== own).map((ref) => `${ref}:${ref}`);
  const made: Fetched = missed.length === 0 ? { ok: true } : await pushRefs(mirror, remote, missed);
  if (!made.ok || !names.includes(own)) return made;
  return pushRefs(mirror, remote, [`${responseId === running ? "" : "+"}${own}:${own}`]);
}

async function listRefs({ mirror, refs }: Pick<ConversationTree, "mirror" | "refs">): Promise<string[]> {
  const words = ["for-each-ref", "--format=%(refname)", `${refs}/`];
  return (await runGit(mirror, words)).stdout.toString().split("\n").filter(Boolean);
}

/** Removes the tree, and all its states, here and at the remote. */
export async function forgetConversationTree(tree: ConversationTree, stateRemote: Remote | undefined): Promise<void> {
  await removeTree(tree.folder);
  for (const name of await listRefs(tree)) await runGit(tree.mirror, ["update-ref", "-d", name]);
  if (!stateRemote) return;
  // Other servers may have pushed some that were never fetched.
  const names = [...((await listRemoteRefs(tree.mirror, stateRemote, `${tree.refs}/`))?.keys() ?? [])];
  if (names.length > 0)
    await pushRefs(
      tree.mirror,
      stateRemote,
      names.map((name) => `:${name}`),
    );
}
