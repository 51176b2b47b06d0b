/** A conversation as lists show it: what a client needs to show its state, from one request (X35, X36). */
import type { ConversationSummary } from "@sheaf/protocol";
import type { ConversationRecord, SharedStore } from "../store/store.ts";
import { readCurrentResponse } from "./log-reader.ts";
import { findExcerpt } from "./search-excerpt.ts";
import type { ServerContext } from "./server-context.ts";
import { toShownModel } from "./server-models.ts";

/** With the approvals that wait now. */
export async function readSummary(
  store: SharedStore,
  record: ConversationRecord,
  context: ServerContext,
): Promise<ConversationSummary> {
  const { id, title, createdAt, updatedAt, pinned, settings, usage, openResponseId } = record;
  const { mode, model, effort } = settings;
  const { workspaces } = context.settings;
  const served = context.trees.findRoot(record.workspace) ?? record.workspace;
  const [workspace] = [...workspaces].find(([, root]) => root === served) ?? [];
  const { promptTokens, completionTokens, costUsd } = usage;
  const approvals = openResponseId === undefined ? [] : await listApprovals(store, openResponseId, context);
  return {
    id,
    title,
    created: new Date(createdAt).toISOString(),
    updated: new Date(updatedAt).toISOString(),
    pinned,
    ...(workspace !== undefined && { workspace }),
    ...(mode && { mode }),
    ...(model !== undefined && { model: toShownModel(model) }),
    ...(effort && { effort }),
    usage: {
      promptTokens,
      completionTokens,
      totalTokens: promptTokens + completionTokens,
      ...(costUsd !== undefined && { costUsd }),
    },
    ...(openResponseId !== undefined && { runningResponseId: openResponseId }),
    ...(approvals.length > 0 && { approvals }),
  };
}

async function listApprovals(
  store: SharedStore,
  responseId: string,
  context: ServerContext,
): Promise<NonNullable<ConversationSummary["approvals"]>> {
  const { approvals = [] } = (await readCurrentResponse(store, responseId, context)) ?? {};
  return approvals.map(({ approvalId, subject, reason, expiresAt }) => {
    const about = { kind: subject.type, ...(reason && { reason }), expiresAt };
    return { approvalId, responseId, ...about };
  });
}

/** Where a conversation that a search found has the words; undefined: it has changed since. */
export async function findMatch(
  store: SharedStore,
  { id, title }: ConversationRecord,
  search: string,
): Promise<ConversationSummary["match"]> {
  const inTitle = findExcerpt(title, search);
  if (inTitle) return { where: "title", ...inTitle };
  for (const { responseId, message, answer } of await store.listTexts(id)) {
    const inMessage = findExcerpt(message, search);
    if (inMessage) return { where: "message", responseId, ...inMessage };
    const inAnswer = findExcerpt(answer, search);
    if (inAnswer) return { where: "answer", responseId, ...inAnswer };
  }
  return undefined;
}
