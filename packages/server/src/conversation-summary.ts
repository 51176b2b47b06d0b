/** Conversations as a list shows them, and pages of that list (X35, X36). */
import type { ApprovalRequestData, ConversationPage, ConversationSummary } from "@sheaf/protocol";
import type { ConversationRecord, SharedStore } from "@sheaf/store/store";
import { HttpError } from "./http-error.ts";
import { createApprovalReader } from "./log-reader.ts";
import { findExcerpt } from "./search-excerpt.ts";
import type { ServerContext } from "./server-context.ts";
import { toShownModel } from "./server-models.ts";

export async function readPage(
  store: SharedStore,
  query: Parameters<SharedStore["listConversations"]>[0],
  context: ServerContext,
): Promise<ConversationPage> {
  const { limit, search } = query;
  const records = await store.listConversations({ ...query, limit: limit + 1 });
  const page = records.slice(0, limit);
  const next = records.length > limit ? encodePlace(page.at(-1)!) : undefined;
  const conversations: ConversationSummary[] = [];
  for (const record of page) {
    const match = search === undefined ? undefined : await findMatch(store, record, search, context);
    conversations.push({ ...(await readSummary(store, record, context)), ...(match && { match }) });
  }
  return { conversations, ...(next !== undefined && { next }) };
}

type Place = Pick<ConversationRecord, "id" | "updatedAt" | "pinned">;

/** Encodes a place as a text that is opaque to clients. */
export function encodePlace({ updatedAt, id, pinned }: Place): string {
  return Buffer.from(`${pinned ? "pinned " : ""}${updatedAt} ${id}`).toString("base64url");
}

/** @throws HttpError USAGE. */
export function decodePlace(text: string): Place {
  const plain = Buffer.from(text, "base64url").toString();
  const [, pinned, time, id] = /^(pinned )?(\d{1,16}) (\S{1,200})$/.exec(plain) ?? [];
  if (time !== undefined && id !== undefined) return { updatedAt: Number(time), id, pinned: pinned !== undefined };
  throw new HttpError("USAGE", `before is ${JSON.stringify(text.slice(0, 100))}: send the "next" of the previous page`);
}

/** Reads the open approvals of a response that another process runs. */
export type ReadOpenApprovals = (
  responseId: string,
) => Promise<readonly Omit<ApprovalRequestData, "documentId" | "options">[]>;

/** Reads the summary with its open approvals. `readOpen` can remember its place in the log between two looks. */
export async function readSummary(
  store: SharedStore,
  record: ConversationRecord,
  context: Pick<ServerContext, "live" | "settings" | "trees">,
  readOpen?: ReadOpenApprovals,
): Promise<ConversationSummary> {
  const { id, title, createdAt, updatedAt, pinned, settings, usage, openResponseId, lastResponseId } = record;
  const { mode, model, effort } = settings;
  const { workspaces } = context.settings;
  const served = context.trees.findRoot(record.workspace) ?? record.workspace;
  const [workspace] = [...workspaces].find(([, root]) => root === served) ?? [];
  const { promptTokens, completionTokens, costUsd } = usage;
  const approvals = openResponseId === undefined ? [] : await listApprovals(store, openResponseId, context, readOpen);
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
    ...(lastResponseId !== undefined && { lastResponseId }),
    ...(approvals.length > 0 && { approvals }),
  };
}

async function listApprovals(
  store: SharedStore,
  responseId: string,
  { live }: Pick<ServerContext, "live">,
  readOpen: ReadOpenApprovals = () => createApprovalReader(store, responseId).readOpen(),
): Promise<NonNullable<ConversationSummary["approvals"]>> {
  const channel = live.find(responseId);
  const open = channel && channel.lastSeq > 0 ? (channel.snapshot.approvals ?? []) : await readOpen(responseId);
  return open.map(({ approvalId, subject, reason, expiresAt, answeredIn }) => {
    const about = { kind: subject.type, ...(reason && { reason }), expiresAt, ...(answeredIn && { answeredIn }) };
    return { approvalId, responseId, ...about };
  });
}

/** Finds the first match in a conversation from a search. Returns undefined if the conversation has changed since. */
async function findMatch(
  store: SharedStore,
  { id, title }: ConversationRecord,
  search: string,
  { settings }: ServerContext,
): Promise<ConversationSummary["match"]> {
  const { mask } = settings.wire.mask;
  const inTitle = findExcerpt(title, search);
  if (inTitle) return { where: "title", ...inTitle };
  for (const { responseId, message, answer } of await store.listTexts(id)) {
    const inMessage = findExcerpt(mask(message), search);
    if (inMessage) return { where: "message", responseId, ...inMessage };
    const inAnswer = findExcerpt(mask(answer), search);
    if (inAnswer) return { where: "answer", responseId, ...inAnswer };
  }
  return undefined;
}
