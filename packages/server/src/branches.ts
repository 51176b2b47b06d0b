/** Shows a branch of a conversation on this server, with its files. */
import { relative } from "node:path";
import type { Environment } from "@sheaf/base/paths";
import { toFileSpans } from "@sheaf/agent/run/conversations/file-spans";
import {
  type BranchRequest,
  type ChooseEnd,
  type RevertPorts,
  type RevertResult,
  showBranch,
} from "@sheaf/agent/run/conversations/revert";
import { createTreeContents, listTreeSteps } from "@sheaf/agent/run/conversations/tree-steps";
import { createUndoPorts } from "@sheaf/agent/run/conversations/undo-ports";
import { START_STATE } from "@sheaf/agent/workspace/trees/conversation-tree";
import { createBranches } from "@sheaf/store/branches";
import { type ConversationRecord, findNewestResponse, type SharedStore } from "@sheaf/store/store";
import { createDenials } from "./denials.ts";
import { createNotFoundError, HttpError } from "./http-error.ts";
import type { ServerContext } from "./server-context.ts";

/** Chooses the branch that ends with this response; null means the empty branch. @throws HttpError NOT_FOUND. */
export function toBranchEnd(responseId: string | null): ChooseEnd {
  return (all) => {
    const end = responseId === null ? undefined : createBranches(all).listBranch(responseId)?.at(-1);
    if (responseId !== null && !end) throw createNotFoundError("response", responseId);
    return end;
  };
}

/** @throws HttpError FILES_CHANGED; SheafError CONVERSATION_BUSY while a response runs. */
export async function showServerBranch(
  request: Partial<Pick<BranchRequest, "onConflict" | "dryRun">>,
  chooseEnd: ChooseEnd,
  { store, record }: StoredConversation,
  context: ServerContext,
): Promise<Omit<RevertResult, "reverted">> {
  const { asked, ports } = await toFileAccess(store, record, context);
  const { onConflict = "refuse", dryRun = false } = request;
  if (onConflict === "keep" && context.trees.findRoot(record.workspace) !== undefined) {
    throw new HttpError("USAGE", 'in a workspace from git each branch has its files: leave out "onConflict"');
  }
  const { reverted, ...result } = await showBranch({ ...asked, onConflict, dryRun }, ports, chooseEnd);
  if (reverted) await recordTree(store, record, context);
  if (reverted || dryRun || result.conflicts.length === 0) return result;
  const details = result.conflicts.map(({ filePath, reason }) => `${filePath}: ${reason}`).join("\n");
  const [reason, kept] = result.files.length === 0 ? ["have changed since", "all"] : ["cannot be restored", "them"];
  const message = `files ${reason}, so Sheaf left ${kept} as they are: send "onConflict" with "leave", "overwrite" or "keep"`;
  throw new HttpError("FILES_CHANGED", message, { details });
}

/** A conversation, and the store that has it. */
export interface StoredConversation {
  readonly store: SharedStore;
  readonly record: ConversationRecord;
}

/** Records the state of a git tree, which changes with the shown branch. */
export async function recordTree(store: SharedStore, record: ConversationRecord, { trees }: ServerContext) {
  const last = await findNewestResponse(store, record.id);
  await trees.record(record, last?.id ?? START_STATE);
}

/** Returns the folders of a conversation's files. In a tree of git, its states show the changes. */
export async function toFileAccess(store: SharedStore, record: ConversationRecord, context: ServerContext) {
  const { settings, trees, preparer } = context;
  const { id } = record;
  const { dataFolder, environment } = settings;
  const root = trees.findRoot(record.workspace);
  const isTree = root !== undefined;
  await preparer.look(root ?? record.workspace);
  const place = { store, conversationId: id, dataFolder, environment };
  return {
    asked: { conversationId: id, readDenials: createDenials(settings) },
    ports: isTree ? createTreePorts(store, record, trees, environment) : createUndoPorts(place),
  };
}

function createTreePorts(
  store: SharedStore,
  record: ConversationRecord,
  trees: ServerContext["trees"],
  environment: Environment,
): RevertPorts {
  const contents = createTreeContents();
  return {
    store,
    environment,
    contents,
    async readStates({ shown }) {
      const ids = shown.map(({ id }) => id);
      const { tree, from, to } = (await trees.readStates(record, store, ids))!;
      const place = { setup: tree.mirror, top: tree.files, workspace: tree.files };
      const steps = await listTreeSteps({ ...place, from, to, toShown: (path) => relative(tree.files, path) });
      await contents.add(tree.mirror, steps);
      return { spans: toFileSpans(steps) };
    },
  };
}
