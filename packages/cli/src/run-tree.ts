/** The working tree of a run: opened before it, recorded after it, and kept if it changed something (C70 to C72). */
import { join, relative } from "node:path";
import { now } from "@sheaf/agent/assemble/wire";
import { createStore } from "@sheaf/agent/assemble/wire-stores";
import { isTrusted } from "@sheaf/agent/config/trust";
import { toBareId } from "@sheaf/agent/output/result-line";
import { SheafError, toSheafError } from "@sheaf/base/errors";
import type { Environment } from "@sheaf/base/paths";
import { isFolder } from "@sheaf/base/make-folder";
import { findProgram } from "@sheaf/sandbox/programs";
import type { ConversationRecord, Store } from "@sheaf/store/store";
import { findRepository, type Repository, toRealPlace } from "@sheaf/base/files/repository";
import { fetchRef, openMirror, toLocalRemote } from "@sheaf/agent/workspace/trees/mirror";
import {
  findTreeOf,
  isTreeName,
  listTrees,
  holdTree,
  type NamedTree,
  readTreeRecord,
  removeNamedTree,
  toNamedTree,
  type TreeRecord,
  writeTreeRecord,
} from "@sheaf/agent/workspace/trees/named-trees";
import { listTreeChanges } from "@sheaf/agent/workspace/trees/list-tree-changes";
import { recordState } from "@sheaf/agent/workspace/trees/record-state";
import { askGit, type GitSetup } from "@sheaf/base/git/run-git";
import { createTree } from "@sheaf/agent/workspace/trees/working-tree";
import type { FlagValues } from "./flags.ts";
import { chooseConversation } from "./prompt-run.ts";
import type { RunConfig } from "./run-config.ts";

/** What chooses the tree. */
export interface TreeOrder {
  readonly config: Pick<RunConfig, "workspace" | "dataFolder">;
  readonly flags: FlagValues;
  readonly environment: Environment;
  readonly conversationId: string;
  readonly responseId: string;
  /** Shows a line to the user. */
  readonly report: (line: string) => void;
}

export interface RunTree {
  /** Where the run works. Absolute, links resolved. */
  readonly workspace: string;
  /** That of the repository that the tree comes from (S-02). */
  readonly trusted: boolean;
  /** Records what changed, or removes a tree without changes. Never rejects. */
  close(): Promise<void>;
}

/** The folders whose sessions `--continue` may mean: that of the command, and its working trees (C72). */
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

/** The bare id of the session that the flags name, or of a new one. */
export async function chooseSession(flags: FlagValues, config: RunConfig): Promise<string> {
  const store = await createStore(config.storeFile);
  try {
    return toBareId(await chooseConversation(flags, store, listSessionFolders(config, flags)));
  } finally {
    await store.close();
  }
}

/** Undefined: the run works where the command was started. @throws SheafError USAGE, INTERNAL. */
export async function openRunTree(order: TreeOrder, store: Store): Promise<RunTree | undefined> {
  const { flags, config, environment, conversationId } = order;
  const dataFolder = toRealPlace(config.dataFolder);
  const conversation = await store.getConversation(conversationId);
  const own = conversation && (await findOwnTree(conversation, dataFolder, store));
  if (!own && flags.worktree === undefined) return undefined;
  checkWord(flags, conversation, own?.tree);
  const repository = findRepository(config.workspace);
  const tree = own?.tree ?? toNamedTree(dataFolder, repository.root, flags.worktree || toNewName(order));
  const inner = own?.inner ?? relative(repository.root, config.workspace);
  const mirror = toMirror(tree, environment);
  const release = holdTree(tree, "wait for it, or name another one");
  try {
    const record = readTreeRecord(tree) ?? (await makeTree(mirror, tree, { repository, environment }));
    const workspace = toRealPlace(join(tree.files, inner));
    if (!isFolder(workspace)) {
      throw new SheafError("USAGE", `the working tree ${tree.name} has no folder ${inner}: commit it first`);
    }
    const trust = { flag: flags.trust ?? false, environment, dataFolder: config.dataFolder };
    return {
      workspace,
      trusted: isTrusted(record.source, trust),
      close: async () => {
        try {
          await keepChanges(mirror, tree, record, order);
        } catch (error) {
          const advice = `its files are in ${tree.files}`;
          order.report(
            `the state of the working tree ${tree.name} was not recorded: ${toSheafError(error).message}: ${advice}`,
          );
        } finally {
          await release();
        }
      },
    };
  } catch (error) {
    if (readTreeRecord(tree)) await release();
    else await removeNamedTree(tree);
    throw error;
  }
}

/** The tree that a stored session works in. What an imported one says of folders is a claim (S-91). */
async function findOwnTree(conversation: ConversationRecord, dataFolder: string, store: Store) {
  const found = findTreeOf(dataFolder, conversation.workspace);
  if (!found) return undefined;
  const [first] = await store.listResponses(conversation.id);
  const [start] = first ? await store.readEvents(first.id) : [];
  return start?.type === "run_start" && start.imported ? undefined : found;
}

/** @throws SheafError USAGE for a word that is not a name, and for a session that works elsewhere. */
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

/** @throws SheafError USAGE without git. */
export function toMirror({ mirrorFolder }: NamedTree, environment: Environment): GitSetup {
  const program = findProgram("git", environment);
  if (program !== undefined) return { program, gitFolder: mirrorFolder, environment };
  throw new SheafError("USAGE", "no git was found, which working trees need: install it, or leave --worktree out");
}

interface TreeSource {
  readonly repository: Repository;
  readonly environment: Environment;
}

/** From the last commit of the user's repository. */
async function makeTree(
  mirror: GitSetup,
  tree: NamedTree,
  { repository, environment }: TreeSource,
): Promise<TreeRecord> {
  const source = repository.root;
  if (toNamedTree(join(tree.mirrorFolder, "../../.."), source, tree.name).mirrorFolder !== tree.mirrorFolder) {
    const advice = "run the command in the repository that it came from";
    throw new SheafError("USAGE", `the working tree ${tree.name} of this session was removed: ${advice}`);
  }
  const remote = toLocalRemote(repository, environment);
  await openMirror(mirror);
  const fetched = await fetchRef(mirror, remote, "HEAD", `refs/sheaf-base/${tree.name}`);
  if (!fetched.ok) {
    const isUnborn = fetched.reason.includes("couldn't find remote ref");
    const advice = `${isUnborn ? "commit something first" : `check it with git -C "${source}" fsck`}, or leave --worktree out`;
    throw new SheafError("USAGE", `no working tree of ${source} can be made (${fetched.reason}): ${advice}`);
  }
  const { commit } = fetched;
  await createTree(mirror, tree, { base: commit, branch: `sheaf/${tree.name}` });
  const record = { source, base: commit, state: commit, createdAt: now() };
  writeTreeRecord(tree, record);
  return record;
}

/** What a tree has now, as a commit under a ref of its own. */
export async function recordTree(
  mirror: GitSetup,
  tree: NamedTree,
  record: TreeRecord,
  ref: string,
): Promise<{ readonly record: TreeRecord; readonly leftOut: readonly string[] }> {
  const message = `State of the working tree ${tree.name}\n`;
  const { commit, leftOut } = await recordState(mirror, tree, { parent: record.state, message, now: now() });
  if (commit === record.state) return { record, leftOut };
  await askGit(mirror, ["update-ref", ref, commit], { purpose: "name the state" });
  await askGit(mirror, ["update-ref", `refs/sheaf-base/${tree.name}-state`, commit], { purpose: "name the state" });
  const next = { ...record, state: commit };
  writeTreeRecord(tree, next);
  return { record: next, leftOut };
}

async function keepChanges(mirror: GitSetup, tree: NamedTree, known: TreeRecord, order: TreeOrder): Promise<void> {
  const { conversationId, responseId, report } = order;
  // A merge may have been noted meanwhile.
  const before = readTreeRecord(tree) ?? known;
  const { record, leftOut } = await recordTree(mirror, tree, before, `refs/sheaf/${conversationId}/${responseId}`);
  for (const path of leftOut.slice(0, 5)) report(`the working tree ${tree.name} was recorded without ${path}`);
  const changes = await listTreeChanges(mirror, record.base, record.state);
  if (changes.length === 0 && leftOut.length === 0) {
    await removeNamedTree(tree);
    return;
  }
  const files = changes.length === 1 ? "1 file" : `${changes.length} files`;
  const advice = `sheaf worktrees merge ${tree.name} brings it into ${record.source}`;
  report(`the working tree ${tree.name} has changes to ${files}, in ${tree.files}: ${advice}`);
}
