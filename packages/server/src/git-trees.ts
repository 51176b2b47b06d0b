/** Workspaces cloned from git: each conversation works in its own tree. */
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { SheafError } from "@sheaf/base/errors";
import { listEntryNames } from "@sheaf/base/files/list-files";
import type { Environment } from "@sheaf/base/paths";
import { type GitWorkspace, isBranchName } from "@sheaf/agent/config/git-workspaces";
import { findProgram } from "@sheaf/sandbox/programs";
import type { ResponseRecord, SharedStore } from "@sheaf/store/store";
import {
  type ConversationTree,
  fetchStates,
  findState,
  forgetConversationTree,
  nameState,
  openConversationTree,
  readConversationTree,
  recordConversationTree,
  toConversationTree,
  toPublishedRef,
  type TreeRecording,
} from "@sheaf/agent/workspace/trees/conversation-tree";
import { fetchRef, fetchRefs, openMirror, pushRefs, readCommit } from "@sheaf/agent/workspace/trees/mirror";
import { askGit, type GitSetup, runGit } from "@sheaf/base/git/run-git";
import { removeTree } from "@sheaf/base/files/remove-tree";
import { createTree, toTreePlace } from "@sheaf/agent/workspace/trees/working-tree";
import { HttpError } from "./http-error.ts";
import type { Log } from "./metrics.ts";

/** Interval between searches for unused trees. Milliseconds. */
const SWEEP_MS = 60 * 60_000;

/** The ref in the mirror to the commit that new conversations start from. */
const START = "refs/sheaf-remote/start";

interface TreesOptions {
  readonly workspaces: readonly GitWorkspace[];
  readonly environment: Environment;
  readonly log: Log;
  /** Milliseconds since 1970; never falling. */
  readonly now: () => number;
}

/** A conversation that may have a tree. */
interface TreeOwner {
  readonly id: string;
  /** The folder of the conversation as the store has it: in the tree where the conversation started. */
  readonly workspace: string;
}

export interface GitTrees {
  /** Fetches the branches, and makes the folders that show them. @throws SheafError USAGE if it can't fetch one. */
  open(): Promise<void>;
  /** Returns the root of the workspace that has this folder, or undefined if that isn't a workspace of git. */
  findRoot(folder: string): string | undefined;
  /** Returns the folder where a conversation works: in its tree, or `root` itself if that isn't a workspace of git. */
  toFolder(root: string, conversationId: string): string;
  /** The commands that set up new trees of a workspace of git. */
  findSetup(folder: string): GitWorkspace["setup"];
  /** True if other servers get the states of a workspace of git. */
  isShared(folder: string): boolean;
  /** Fetches other servers' states of a conversation in a workspace of git. @throws SheafError NETWORK. */
  fetch(owner: TreeOwner): Promise<void>;
  /**
   * Brings the files to their state after the last response, or to the state of the response that continues here.
   * `isNew`: the files were just written. @throws SheafError NETWORK, INTERNAL.
   */
  prepare(owner: TreeOwner, store: SharedStore, running?: RunningInTree): Promise<{ readonly isNew: boolean }>;
  /** Records the state during or after a response. Returns false if other servers don't get it. Never rejects. */
  record(owner: TreeOwner, responseId: string, isRunning?: boolean): Promise<boolean>;
  /** The tree of a conversation, with its state after these responses (oldest first) and its present state. */
  readStates(owner: TreeOwner, store: SharedStore, shown: readonly string[]): Promise<TreeStates | undefined>;
  /** Copies the state after a response into the fork that starts with it. */
  copyState(from: TreeOwner, to: TreeOwner, store: SharedStore): Promise<void>;
  /** Pushes the files as one commit. @throws HttpError, SheafError NETWORK. */
  publish(owner: TreeOwner, request: PublishRequest, store: SharedStore): Promise<{ readonly commit: string }>;
  /** Removes the tree of a conversation and its states, if it has any here. */
  forget(conversationId: string): Promise<void>;
  close(): void;
}

/** A response that is about to run in a tree. */
interface RunningInTree {
  readonly responseId: string;
  /** True if the server that ran the response is lost. */
  readonly takesOver: boolean;
}

interface PublishRequest {
  readonly branch: string;
  readonly message: string;
}

export interface TreeStates {
  readonly tree: ConversationTree;
  readonly from: string;
  readonly to: string;
}

interface OpenWorkspace extends GitWorkspace {
  readonly mirror: GitSetup;
  /** The folder that shows the branch. The workspace's name resolves to it. */
  readonly root: string;
  readonly trees: string;
}

/** Returns the folder with the files of the branch, which lists of files use. */
export function toGitRoot({ folder }: Pick<GitWorkspace, "folder">): string {
  return toTreePlace(join(folder, "start")).files;
}

/** @throws SheafError USAGE without git. */
export function createGitTrees({ workspaces, environment, log, now }: TreesOptions): GitTrees {
  const program = workspaces.length === 0 ? "" : findProgram("git", environment);
  if (program === undefined)
    throw new SheafError("USAGE", "workspaces from git need git, which is not installed: install it");
  const all: readonly OpenWorkspace[] = workspaces.map((workspace) => {
    const { folder } = workspace;
    const mirror = { program, environment, gitFolder: join(folder, "mirror.git") };
    return { ...workspace, mirror, root: toGitRoot(workspace), trees: join(folder, "trees") };
  });
  /** Finds a workspace even if another server made the tree, in another folder. */
  const find = (folder: string): OpenWorkspace | undefined => {
    const [key, trees] = folder.split("/").slice(-4);
    return all.find((own) => folder === own.root || (trees === "trees" && key === basename(own.folder)));
  };
  const inTurn = createTurns();
  /** Ids of the responses that run in trees, by folder. A response can wait for a person for days. */
  const busy = new Map<string, string>();
  let timer: NodeJS.Timeout | undefined;

  /** Returns the newest commit of the branch, or the last known one if the repository doesn't answer. */
  const findBase = async (workspace: OpenWorkspace): Promise<string> => {
    const { mirror, remote, branch, name } = workspace;
    return inTurn(mirror.gitFolder, async () => {
      await openMirror(mirror);
      const ref = branch === undefined ? "HEAD" : `refs/heads/${branch}`;
      const fetched = await fetchRef(mirror, remote, ref, START);
      if (fetched.ok) return fetched.commit;
      log({ level: "warn", event: "repository_unreachable", workspace: name, reason: fetched.reason });
      const known = await readCommit(mirror, START);
      if (known !== undefined) return known;
      const message = `the repository of the workspace ${name} cannot be reached: try again later`;
      throw new SheafError("NETWORK", message, { source: "server", details: fetched.reason });
    });
  };

  const toTree = (workspace: OpenWorkspace, id: string): ConversationTree =>
    toConversationTree(workspace.mirror, workspace.trees, id);

  const openTree = async (workspace: OpenWorkspace, { id }: TreeOwner, store: SharedStore, running?: RunningInTree) => {
    const responses = (await listKept(store, id)).map((response) => response.id);
    await openMirror(workspace.mirror);
    return openConversationTree(toTree(workspace, id), {
      responses,
      running: running?.responseId,
      takesOver: running?.takesOver,
      stateRemote: workspace.stateRemote,
      findBase: () => findBase(workspace),
      branch: workspace.branch ?? "main",
      now: now(),
    });
  };

  /** @throws SheafError INTERNAL. */
  const recordTree = async (
    workspace: OpenWorkspace,
    id: string,
    request: Pick<TreeRecording, "responseId" | "isRunning">,
  ): Promise<boolean> => {
    const { name, stateRemote } = workspace;
    const { responseId } = request;
    const recording = { ...request, stateRemote, now: now() };
    const { leftOut, problem } = await recordConversationTree(toTree(workspace, id), recording);
    for (const path of leftOut.slice(0, 5)) {
      log({ level: "warn", event: "file_not_recorded", workspace: name, responseId, path });
    }
    if (problem !== undefined) log({ level: "warn", event: "state_not_pushed", workspace: name, responseId, problem });
    return problem === undefined && stateRemote !== undefined;
  };

  const showBranch = async (workspace: OpenWorkspace): Promise<void> => {
    const commit = await findBase(workspace);
    const place = toTreePlace(join(workspace.folder, "start"));
    await removeTree(place.folder);
    await createTree(workspace.mirror, place, { base: commit, branch: workspace.branch ?? "main" });
  };

  const sweep = async (): Promise<void> => {
    for (const workspace of all) {
      for (const name of listEntryNames(workspace.trees)) {
        const tree = toTree(workspace, name);
        await inTurn(tree.folder, async () => {
          // The check runs in the tree's turn, since a tree has no record while it is being made.
          const { usedAt = 0 } = readConversationTree(tree) ?? {};
          const isUnused = now() - usedAt >= workspace.keepTreeMs && !busy.has(tree.folder);
          if (isUnused) await removeTree(tree.folder);
        });
      }
      await runGit(workspace.mirror, ["-c", "gc.auto=5000", "gc", "-q", "--auto"], { timeoutMs: SWEEP_MS });
    }
  };

  return {
    async open() {
      for (const workspace of all) {
        try {
          await showBranch(workspace);
        } catch (error) {
          const { details, message } = error as SheafError;
          const advice = "check its address, its branch and its credentials";
          throw new SheafError("USAGE", `--workspace ${workspace.name}: ${details || message}: ${advice}`);
        }
      }
      if (all.length === 0) return;
      const onFailure = (error: unknown): void =>
        log({ level: "error", event: "trees_not_swept", error: String(error) });
      void sweep().catch(onFailure);
      timer = setInterval(() => void sweep().catch(onFailure), SWEEP_MS);
      timer.unref();
    },
    findRoot: (folder) => find(folder)?.root,
    toFolder(root, conversationId) {
      const workspace = find(root);
      return workspace ? toTree(workspace, conversationId).files : root;
    },
    findSetup: (folder) => find(folder)?.setup,
    isShared: (folder) => find(folder)?.stateRemote !== undefined,
    async fetch({ id, workspace: folder }) {
      const workspace = find(folder);
      if (!workspace?.stateRemote) return;
      const { stateRemote } = workspace;
      const tree = toTree(workspace, id);
      await openMirror(workspace.mirror);
      await inTurn(tree.folder, () => fetchStates(tree, stateRemote));
    },
    async prepare(owner, store, running) {
      const workspace = find(owner.workspace);
      if (!workspace) return { isNew: false };
      const { folder } = toTree(workspace, owner.id);
      if (running !== undefined) busy.set(folder, running.responseId);
      return inTurn(folder, () => openTree(workspace, owner, store, running));
    },
    async record({ id, workspace: place }, responseId, isRunning = false) {
      const workspace = find(place);
      if (!workspace) return false;
      const { folder } = toTree(workspace, id);
      if (!isRunning && busy.get(folder) === responseId) busy.delete(folder);
      try {
        return await inTurn(folder, () => recordTree(workspace, id, { responseId, isRunning }));
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        log({ level: "error", event: "state_not_recorded", workspace: workspace.name, responseId, reason });
        return false;
      }
    },
    async readStates(owner, store, shown) {
      const workspace = find(owner.workspace);
      if (!workspace) return undefined;
      const tree = toTree(workspace, owner.id);
      return inTurn(tree.folder, async () => {
        const kept = await listKept(store, owner.id);
        // A running response already has the tree in the state that it needs.
        if (!readConversationTree(tree) || kept.every(({ ended }) => ended)) await openTree(workspace, owner, store);
        const known = readConversationTree(tree)!;
        return { tree, from: (await findState(tree, shown)) ?? known.base, to: known.state };
      });
    },
    async copyState(from, to, store) {
      const workspace = find(from.workspace);
      if (!workspace) return;
      const [old, copied] = await Promise.all([listKept(store, from.id), listKept(store, to.id)]);
      const last = copied.at(-1);
      if (!last) return;
      await inTurn(toTree(workspace, from.id).folder, () => openTree(workspace, from, store));
      const source = toTree(workspace, from.id);
      const state = await findState(
        source,
        old.slice(0, copied.length).map(({ id }) => id),
      );
      const { base } = readConversationTree(source)!;
      const target = toTree(workspace, to.id);
      await nameState(target, "base", base);
      if (state !== undefined) await nameState(target, last.id, state);
      if (!workspace.stateRemote) return;
      const pushed = await pushRefs(workspace.mirror, workspace.stateRemote, [`+${target.refs}/*:${target.refs}/*`]);
      if (!pushed.ok)
        log({ level: "warn", event: "state_not_pushed", workspace: workspace.name, problem: pushed.reason });
    },
    async publish(owner, { branch, message }, store) {
      const workspace = find(owner.workspace);
      if (!workspace) {
        throw new HttpError(
          "USAGE",
          "the workspace of this conversation is not from git: only such a workspace can publish",
        );
      }
      checkBranch(branch, workspace);
      const tree = toTree(workspace, owner.id);
      return inTurn(tree.folder, async () => {
        await openTree(workspace, owner, store);
        return pushState(workspace, tree, { branch, message, now: now() });
      });
    },
    async forget(conversationId) {
      for (const workspace of all) {
        const tree = toTree(workspace, conversationId);
        if (!existsSync(workspace.mirror.gitFolder)) continue;
        await inTurn(tree.folder, () => forgetConversationTree(tree, workspace.stateRemote));
      }
    },
    close: () => clearInterval(timer),
  };
}

async function listKept(store: SharedStore, conversationId: string): Promise<readonly ResponseRecord[]> {
  return (await store.listResponses(conversationId)).filter(({ reverted }) => !reverted);
}

/** @throws HttpError USAGE, FORBIDDEN. */
function checkBranch(branch: string, workspace: GitWorkspace): void {
  if (!isBranchName(branch)) {
    const rule = "use letters, digits and . _ - / + @, at most 100";
    throw new HttpError("USAGE", `branch is ${JSON.stringify(branch)}, which is not the name of a branch: ${rule}`);
  }
  if (branch !== (workspace.branch ?? branch)) return;
  if (workspace.branch === undefined && branch !== "main" && branch !== "master") return;
  throw new HttpError("FORBIDDEN", `conversations start from the branch ${branch}: choose another branch`);
}

/** Pushes one commit. Its parent is the conversation's last commit on the branch, or where it started. */
async function pushState(
  { mirror, remote, stateRemote, name }: OpenWorkspace,
  tree: ConversationTree,
  { branch, message, now }: PublishRequest & { readonly now: number },
): Promise<{ readonly commit: string }> {
  const known = readConversationTree(tree)!;
  const ref = toPublishedRef(tree, branch);
  // Another server may have published since. Fetching without force never replaces a newer commit by an older one.
  if (stateRemote) await fetchRefs(mirror, stateRemote, `${ref}:${ref}`);
  const published = await readCommit(mirror, ref);
  const parent = published ?? known.base;
  const words = ["commit-tree", `${known.state}^{tree}`, "-p", parent, "-F", "-"];
  const made = await askGit(mirror, words, { purpose: "make the commit", input: `${message}\n`, now });
  const commit = made.toString().trim();
  const target = `refs/heads/${branch}`;
  // The lease protects another author's branch, even if a push could fast-forward it.
  const pushed = await pushRefs(mirror, remote, [`${commit}:${target}`], { [target]: published ?? "" });
  if (!pushed.ok) {
    const reason = /rejected|stale|non-fast-forward|fetch first|failed to push/.test(pushed.reason)
      ? `the branch ${branch} has other commits: name another one`
      : `the repository of the workspace ${name} did not take the branch`;
    throw new HttpError("FILES_CHANGED", `nothing was published: ${reason}`);
  }
  await askGit(mirror, ["update-ref", ref, commit], { purpose: "note what was published" });
  if (stateRemote) await pushRefs(mirror, stateRemote, [`${ref}:${ref}`]);
  return { commit };
}

/** Runs actions with the same key one after the other. */
function createTurns(): <Result>(key: string, work: () => Promise<Result>) => Promise<Result> {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const result = (last.get(key) ?? Promise.resolve()).then(work, work);
    const settled = result.catch(() => undefined);
    last.set(key, settled);
    void settled.finally(() => last.get(key) === settled && last.delete(key));
    return result;
  };
}
