/** A working tree of a run: made before it, turned into a branch of the user's repository after (C70 to C72). */
import type { Notice, NoticeCode } from "@sheaf/protocol";
import { join, relative } from "node:path";
import { now } from "@sheaf/agent/assemble/wire";
import { createStore } from "@sheaf/agent/assemble/wire-stores";
import { isTrusted } from "@sheaf/agent/config/trust";
import type { EndNotice } from "@sheaf/agent/run/conversations/respond";
import { toBareId } from "@sheaf/agent/output/result-line";
import { SheafError, toSheafError } from "@sheaf/base/errors";
import type { Environment } from "@sheaf/base/paths";
import { isFolder } from "@sheaf/base/make-folder";
import { findProgram } from "@sheaf/sandbox/programs";
import type { ConversationRecord, Store } from "@sheaf/store/store";
import { findRepository, type Repository, toRealPlace } from "@sheaf/base/files/repository";
import {
  borrowObjects,
  fetchRefs,
  listRemoteRefs,
  openMirror,
  pushRefs,
  readCommit,
  type Remote,
  toLocalRemote,
} from "@sheaf/agent/workspace/trees/mirror";
import {
  findTreeOf,
  isTreeName,
  listTrees,
  holdTree,
  type NamedTree,
  readOpenTree,
  readTreeRecord,
  removeTreeFiles,
  toNamedTree,
  type TreeRecord,
  writeTreeRecord,
} from "@sheaf/agent/workspace/trees/named-trees";
import { listTreeChanges } from "@sheaf/agent/workspace/trees/list-tree-changes";
import { recordState } from "@sheaf/agent/workspace/trees/record-state";
import { askGit, type GitSetup, runGit } from "@sheaf/base/git/run-git";
import { removeTree } from "@sheaf/base/files/remove-tree";
import { createTree } from "@sheaf/agent/workspace/trees/working-tree";
import type { FlagValues } from "./flags.ts";
import { chooseConversation } from "./prompt-run.ts";
import type { RunConfig } from "./run-config.ts";

export interface TreeOrder {
  readonly config: Pick<RunConfig, "workspace" | "dataFolder">;
  readonly flags: FlagValues;
  readonly environment: Environment;
  readonly conversationId: string;
  readonly responseId: string;
}

export interface RunTree {
  /** Folder in which the run works, absolute, with links resolved. */
  readonly workspace: string;
  /** Trust in the repository of the tree (S-02). */
  readonly trusted: boolean;
  /** Makes the branch and removes the tree. Returns notices about both. Never rejects. */
  end(): Promise<readonly EndNotice[]>;
  /** Lets other runs use the tree. A tree that `end` never saw stays, unless it was made for this run. */
  close(): Promise<void>;
}

/** Lists the folders whose sessions `--continue` can continue: the command's, and its working trees (C72). */
export function listSessionFolders(
  { workspace, dataFolder }: TreeOrder["config"],
  { worktree }: FlagValues,
): readonly string[] {
  const repository = findRepository(workspace);
  const inner = relative(repository.root, workspace);
  const trees = repository.git === "none" ? [] : listTrees(toRealPlace(dataFolder), repository.root);
  const named = trees.filter(({ name }) => !worktree || name === worktree).map(({ files }) => join(files, inner));
  return worktree === undefined ? [workspace, ...named] : named;
}

/** Returns the bare id of the session in the flags, or of a new one. */
export async function chooseSession(flags: FlagValues, config: RunConfig): Promise<string> {
  const store = await createStore(config.storeFile);
  try {
    return toBareId(await chooseConversation(flags, store, listSessionFolders(config, flags)));
  } finally {
    await store.close();
  }
}

/** Opens the tree; undefined if the run works in the command's folder. @throws SheafError USAGE, INTERNAL. */
export async function openRunTree(order: TreeOrder, store: Store): Promise<RunTree | undefined> {
  const { flags, config, environment, conversationId } = order;
  const dataFolder = toRealPlace(config.dataFolder);
  const conversation = await store.getConversation(conversationId);
  const own = conversation && (await findOwnTree(conversation, dataFolder, store));
  if (!own && flags.worktree === undefined) return undefined;
  checkWord(flags, conversation, own?.tree);
  const { root } = findRepository(config.workspace);
  const tree = own?.tree ?? toNamedTree(dataFolder, root, flags.worktree || toNewName(order));
  const inner = own?.inner ?? relative(root, config.workspace);
  const record = readTreeRecord(tree);
  if (!record && toNamedTree(dataFolder, root, tree.name).folder !== tree.folder) {
    const advice = "run the command in the repository that it came from";
    throw new SheafError("USAGE", `the working tree ${tree.name} of this session was removed: ${advice}`);
  }
  const repository = findRepository(record?.source ?? root);
  const source = { repository, remote: toLocalRemote(repository, environment), isResumed: own !== undefined };
  const mirror = toMirror(tree, environment);
  const release = holdTree(tree);
  const isNew = !readOpenTree(tree);
  const forget = async (): Promise<void> => {
    if (isNew) await (record ? removeTreeFiles(tree) : removeTree(tree.folder));
    release();
  };
  try {
    const opened = await openTree(mirror, tree, source);
    const workspace = toRealPlace(join(tree.files, inner));
    if (!isFolder(workspace)) {
      throw new SheafError("USAGE", `the working tree ${tree.name} has no folder ${inner}: commit it first`);
    }
    const trust = { flag: flags.trust ?? false, environment, dataFolder: config.dataFolder };
    let close = forget;
    return {
      workspace,
      trusted: isTrusted(repository.root, trust),
      async end() {
        close = async () => release();
        return endTree(opened).catch((error: unknown) => {
          const advice = `fix that, and continue in it with sheaf -p --worktree ${tree.name} "…"`;
          const message = `the working tree stays in ${tree.files} (${toSheafError(error).message}): ${advice}`;
          const failure = new SheafError("STORAGE_LOCKED", message, { source: "storage" });
          return [{ code: "TREE_KEPT", message, failure }];
        });
      },
      close: () => close(),
    };
  } catch (error) {
    await forget();
    throw error;
  }
}

/** Returns the tree of a stored session. The folders in an imported one are only claims (S-91). */
async function findOwnTree(conversation: ConversationRecord, dataFolder: string, store: Store) {
  const found = findTreeOf(dataFolder, conversation.workspace);
  if (!found) return undefined;
  const [first] = await store.listResponses(conversation.id);
  const [start] = first ? await store.readEvents(first.id) : [];
  return start?.type === "run_start" && start.imported ? undefined : found;
}

/** Checks the flag. @throws SheafError USAGE for an invalid name, and for a session that works elsewhere. */
function checkWord({ worktree }: FlagValues, conversation: ConversationRecord | undefined, tree?: NamedTree): void {
  if (worktree && !isTreeName(worktree)) {
    const advice = "use up to 64 letters, digits, - and _; the prompt goes before the flag, or after --";
    throw new SheafError("USAGE", `--worktree ${JSON.stringify(worktree)} is not a name: ${advice}`);
  }
  if (!conversation || worktree === undefined || tree?.name === (worktree || tree?.name)) return;
  const place = tree ? `the working tree ${tree.name}` : conversation.workspace;
  throw new SheafError("USAGE", `this session works in ${place}: leave --worktree out, or begin a new session`);
}

function toNewName({ responseId }: TreeOrder): string {
  return `tree-${responseId.replace(/^chat_/, "").slice(0, 8)}`;
}

/** Returns the mirror. @throws SheafError USAGE without git. */
function toMirror({ mirrorFolder }: NamedTree, environment: Environment): GitSetup {
  const program = findProgram("git", environment);
  if (program !== undefined) return { program, gitFolder: mirrorFolder, environment };
  throw new SheafError("USAGE", "working trees need git, which is not installed: install it, or leave --worktree out");
}

/** Origin of a tree. */
interface TreeSource {
  readonly repository: Repository;
  readonly remote: Remote;
  /** True if a session continues in the tree. */
  readonly isResumed: boolean;
}

interface OpenTree {
  readonly mirror: GitSetup;
  readonly tree: NamedTree;
  readonly remote: Remote;
  readonly record: TreeRecord;
  /** A notice for the user about the tree's start. */
  readonly note?: string | undefined;
}

/** Opens the tree of a killed run, or makes a new one. @throws SheafError USAGE, INTERNAL. */
async function openTree(mirror: GitSetup, tree: NamedTree, source: TreeSource): Promise<OpenTree> {
  const { repository, remote } = source;
  const left = readOpenTree(tree);
  if (!left) await removeTreeFiles(tree);
  await openMirror(mirror);
  borrowObjects(mirror, repository);
  if (left) return { mirror, tree, remote, record: left };
  const { note, ...start } = await findStart(mirror, tree, source);
  await createTree(mirror, tree, { base: start.base, branch: `sheaf/${tree.name}` });
  const record = { source: repository.root, ...start };
  writeTreeRecord(tree, record);
  return { mirror, tree, remote, record, note };
}

/** Returns the tip of its branch; without a branch, the commit that a resumed session had, or the user's last one. */
async function findStart(
  mirror: GitSetup,
  tree: NamedTree,
  { repository: { root }, remote, isResumed }: TreeSource,
): Promise<Pick<TreeRecord, "base" | "branch"> & Pick<OpenTree, "note">> {
  const known = readTreeRecord(tree);
  const branch = known?.branch ?? `sheaf/${tree.name}`;
  const [tips, heads] = [await listBranches(mirror, remote, branch), await listRemoteRefs(mirror, remote, "HEAD")];
  const tip = tips?.get(branch);
  const own = isResumed && known ? await readCommit(mirror, known.base) : undefined;
  const base = tip ?? own ?? heads?.get("HEAD");
  const isLost = isResumed && (tip ?? own) === undefined;
  const note = isLost
    ? `git no longer has ${branch} or its commits, so the tree started with your last commit`
    : undefined;
  if (base !== undefined && (await readCommit(mirror, base))) return { base, branch: tip && branch, note };
  const isUnborn = heads !== undefined && base === undefined;
  const advice = isUnborn ? "commit something first" : `check it with git -C "${root}" fsck`;
  throw new SheafError("USAGE", `no working tree of ${root} can be made: ${advice}, or leave --worktree out`);
}

/** Lists branches with this start of their names, with their commits; undefined if the repository is unreadable. */
async function listBranches(mirror: GitSetup, remote: Remote, name: string) {
  const refs = await listRemoteRefs(mirror, remote, `refs/heads/${name}`);
  return refs && new Map([...refs].map(([ref, commit]) => [ref.slice("refs/heads/".length), commit]));
}

/** Place of the tree's refs in the mirror. */
const TREE_REFS = "refs/sheaf-tree";

/** Fetches the refs of the tree's repository. Returns its last commit, or `base` if that contains it already. */
async function takeCommits(mirror: GitSetup, { files }: NamedTree, base: string): Promise<string> {
  const remote: Remote = { address: join(files, ".git"), access: { protocol: "file" } };
  const fetched = await fetchRefs(mirror, remote, `+HEAD:${TREE_REFS}/HEAD`, `+refs/*:${TREE_REFS}/refs/*`);
  const head = await readCommit(mirror, `${TREE_REFS}/HEAD`);
  if (!fetched.ok || head === undefined) throw new SheafError("INTERNAL", fetched.ok ? "no HEAD" : fetched.reason);
  const { exitCode } = await runGit(mirror, ["merge-base", "--is-ancestor", head, base]);
  return exitCode === 0 ? base : head;
}

/** Lists the tree's other branches, tags and stashes that have commits that the branch lacks. */
async function listOtherRefs(mirror: GitSetup, commit: string): Promise<readonly string[]> {
  const words = ["for-each-ref", "--format=%(refname:lstrip=2)", `--no-merged=${commit}`, `${TREE_REFS}/refs/`];
  const names = await askGit(mirror, words, { purpose: "list the other commits of the tree" });
  return names.toString().split("\n").filter(Boolean);
}

interface TreeState {
  readonly commit: string;
  /** Name of the branch; undefined without changes. */
  readonly branch: string | undefined;
  /** Contents that the branch lacks, each with the reason. */
  readonly lacks: readonly string[];
}

/** Commits the rest of the files after `parent`, and makes the branch. @throws SheafError INTERNAL. */
async function makeState({ mirror, tree, remote, record }: OpenTree, parent: string): Promise<TreeState> {
  const message = `Changes of the working tree ${tree.name}\n`;
  const { commit, leftOut } = await recordState(mirror, tree, { parent, message, now: now() });
  const wanted = toBranch({ tree, record });
  const isNew = commit !== record.base;
  const branch = isNew ? await makeBranch({ mirror, tree, remote }, wanted, commit) : record.branch;
  return { commit, branch, lacks: leftOut };
}

/** Works like `makeState`, with the tree's own commits if they pass git's strict check. */
async function makeWholeState(opened: OpenTree): Promise<TreeState> {
  const { mirror, tree, record } = opened;
  try {
    const state = await makeState(opened, await takeCommits(mirror, tree, record.base));
    return { ...state, lacks: [...state.lacks, ...(await listOtherRefs(mirror, state.commit))] };
  } catch (error) {
    const state = await makeState(opened, record.base);
    return { ...state, lacks: [...state.lacks, `the commits of its .git: ${toSheafError(error).message}`] };
  }
}

function toBranch({ tree, record }: Pick<OpenTree, "tree" | "record">): string {
  return record.branch ?? `sheaf/${tree.name}`;
}

/** Brings the changes into the branch, and removes the tree if the branch has them all. @throws SheafError INTERNAL. */
async function endTree(opened: OpenTree): Promise<readonly Notice[]> {
  const { mirror, tree, remote, record, note } = opened;
  const { name, files } = tree;
  const { commit, branch, lacks } = await makeWholeState(opened);
  const { length } = await listTreeChanges(mirror, record.base, commit);
  writeTreeRecord(tree, { ...record, base: commit, branch, isRemoved: lacks.length === 0 });
  const stays = (reason: string) => toNotice("TREE_KEPT", `the working tree stays in ${files}, since ${reason}`);
  const kept = lacks.slice(0, 5).map((path) => stays(`the branch lacks ${path}`));
  if (lacks.length > kept.length) kept.push(stays(`the branch lacks ${lacks.length - kept.length} more`));
  if (lacks.length === 0) {
    const onFailure = (error: unknown) => void kept.push(stays(`it cannot be removed: ${toSheafError(error).message}`));
    await removeTreeFiles(tree).catch(onFailure);
  }
  const notes = [...(note === undefined ? [] : [toNotice("TREE_BRANCH", note)]), ...kept];
  if (commit === record.base) {
    const rest = branch === undefined ? "Sheaf made no branch" : `the branch ${branch} stays as it is`;
    return [toNotice("TREE_BRANCH", `nothing changed in the working tree ${name}, so ${rest}`), ...notes];
  }
  const wanted = toBranch(opened);
  const reason = branch === wanted ? "" : `, since ${wanted} is checked out or has other commits`;
  const changes = `the changes to ${length === 1 ? "1 file" : `${length} files`}`;
  const tag = `refs/tags/${branch}`;
  const isTag = (await listRemoteRefs(mirror, remote, tag))?.has(tag);
  // Git prefers the tag for the plain name.
  const merge = `git merge ${isTag ? "heads/" : ""}${branch}`;
  return [
    toNotice("TREE_BRANCH", `the branch ${branch} of ${record.source} has ${changes}${reason}: ${merge}`),
    ...notes,
  ];
}

function toNotice(code: NoticeCode, message: string): Notice {
  return { code, message };
}

/** Moves the branch to the commit, or makes the next free one if it has others or is checked out. Returns its name. */
async function makeBranch(
  { mirror, tree, remote }: Pick<OpenTree, "mirror" | "tree" | "remote">,
  wanted: string,
  commit: string,
): Promise<string> {
  const pushed = await pushRefs(mirror, remote, [`${commit}:refs/heads/${wanted}`]);
  if (pushed.ok) return wanted;
  const own = `sheaf/${tree.name}`;
  const known = await listBranches(mirror, remote, own);
  let branch = own;
  for (let number = 2; known?.has(branch); number += 1) branch = `${own}-${number}`;
  const ref = `refs/heads/${branch}`;
  const made = branch === wanted ? pushed : await pushRefs(mirror, remote, [`${commit}:${ref}`], { [ref]: "" });
  if (made.ok) return branch;
  throw new SheafError("INTERNAL", `git could not make the branch ${branch}: ${made.reason}`);
}
