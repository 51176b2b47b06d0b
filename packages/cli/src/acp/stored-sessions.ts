/** Lists, opens, forks and deletes sessions of the store for editors (C54). */
import {
  methods,
  RequestError,
  type AgentContext,
  type ListSessionsRequest,
  type ListSessionsResponse,
} from "@agentclientprotocol/sdk/unstable";
import { now } from "@sheaf/agent/assemble/wire";
import { SheafError } from "@sheaf/base/errors";
import { createKnownMask } from "@sheaf/agent/config/known-secrets";
import { maskLog } from "@sheaf/agent/output/event-mask";
import { createAcpProjection } from "@sheaf/agent/output/acp-updates";
import { toBareId } from "@sheaf/agent/output/result-line";
import { readConversationSettings } from "@sheaf/agent/run/conversations/conversation-settings";
import { listEndedResponses } from "@sheaf/agent/run/conversations/end-cut-response";
import { forkConversation } from "@sheaf/agent/run/conversations/fork";
import { digestLog } from "@sheaf/store/log-digest";
import type { ConversationRecord, ConversationSettings, SharedStore, Store } from "@sheaf/store/store";
import { removeConversationFiles } from "@sheaf/agent/workspace/conversation-folders";
import { toRealPlace } from "@sheaf/base/files/repository";
import type { CommandIo } from "../io.ts";
import { toConversationId } from "../session-id.ts";
import { withSessionStore } from "../session-store.ts";

/** Number of sessions on one page of the list. */
const PAGE = 50;

/** Returns one page, newest first. @throws RequestError for a cursor that Sheaf did not make. */
export async function listSessions({ cwd, cursor }: ListSessionsRequest, io: CommandIo): Promise<ListSessionsResponse> {
  const after = typeof cursor === "string" ? decodeCursor(cursor) : undefined;
  const folder = typeof cwd === "string" ? toRealPlace(cwd) : undefined;
  const query = { limit: PAGE + 1, workspace: folder, after };
  const found = await withSessionStore(io, undefined, (store) => store.listConversations(query));
  const page = found.slice(0, PAGE);
  const last = found.length > PAGE ? page.at(-1) : undefined;
  return {
    sessions: page.map(({ id, workspace, title, updatedAt }) => ({
      sessionId: toBareId(id),
      cwd: workspace,
      title,
      updatedAt: new Date(updatedAt).toISOString(),
    })),
    ...(last && { nextCursor: encodeCursor(last) }),
  };
}

type Place = Pick<ConversationRecord, "id" | "updatedAt">;

function encodeCursor({ id, updatedAt }: Place): string {
  return `${updatedAt}.${toBareId(id)}`;
}

function decodeCursor(cursor: string): Place {
  const [, time, word = ""] = /^(\d{1,16})\.(.+)$/.exec(cursor) ?? [];
  const id = toConversationId(word);
  if (id !== undefined) return { id, updatedAt: Number(time) };
  throw RequestError.invalidParams({ cursor }, "the cursor is not one of session/list: begin without one");
}

/** Returns the settings of a stored session; undefined if it isn't stored. */
export async function readSettings(sessionId: string, io: CommandIo): Promise<ConversationSettings | undefined> {
  return withSessionStore(io, undefined, async (store) => {
    const conversation = await store.getConversation(toConversationId(sessionId) ?? "");
    return conversation && readConversationSettings(store, conversation);
  });
}

/** Returns the cost of the responses that have ended, in US dollars. */
export async function readSpentUsd(sessionId: string, io: CommandIo): Promise<number> {
  return withSessionStore(io, undefined, async (store) => {
    const conversation = await store.getConversation(toConversationId(sessionId) ?? "");
    return conversation?.usage.costUsd ?? 0;
  });
}

/** Stores settings. A session that isn't stored yet gets them with its first response. */
export async function keepSettings(sessionId: string, settings: ConversationSettings, io: CommandIo): Promise<void> {
  const id = toConversationId(sessionId) ?? "";
  await withSessionStore(io, undefined, async (store) => {
    const known = (await store.getConversation(id))?.settings;
    await store.changeConversation(id, { settings: { ...known, ...settings } });
  });
}

/** Replays a session's responses as updates. @throws SheafError USAGE if it isn't stored. */
export async function tellHistory(sessionId: string, client: AgentContext, io: CommandIo): Promise<void> {
  await withSessionStore(io, undefined, async (store) => {
    const responses = await readResponses(store, sessionId);
    const mask = createKnownMask(io.environment);
    let spentUsd = 0;
    for (const { id, reverted } of responses) {
      const events = await store.readEvents(id);
      const projection = createAcpProjection({ withPrompt: true, spentUsd });
      spentUsd += digestLog(events).costUsd ?? 0;
      if (reverted) continue;
      for (const event of maskLog(events, { mask })) {
        for (const update of projection.push(event)) {
          await client.notify(methods.client.session.update, { sessionId, update });
        }
      }
    }
  });
}

async function readResponses(store: Store, sessionId: string) {
  const responses = await store.listResponses(toConversationId(sessionId) ?? "");
  if (responses.length > 0) return responses;
  throw new SheafError("USAGE", `the session ${sessionId} is not stored: create a new one`);
}

/** Deletes a session, if it is stored. @throws SheafError CONVERSATION_BUSY while a response runs. */
export async function deleteSession(sessionId: string, io: CommandIo): Promise<void> {
  await withSessionStore(io, undefined, async (store, { dataFolder }) => {
    const id = toConversationId(sessionId) ?? "";
    if (await store.deleteConversation(id)) await removeConversationFiles(dataFolder, id);
  });
}

/** Forks a session, without changes of files, and returns the new id. @throws SheafError USAGE without a response. */
export async function forkSession(sessionId: string, io: CommandIo): Promise<string> {
  return withSessionStore(io, undefined, async (store) => toBareId((await forkLast(store, sessionId)).id));
}

async function forkLast(store: SharedStore, sessionId: string): Promise<ConversationRecord> {
  const id = toConversationId(sessionId) ?? "";
  const last = (await listEndedResponses(store, id, now)).findLast(({ reverted }) => !reverted);
  const fork = last && (await forkConversation(store, id, last.id, now));
  if (fork) return fork;
  throw new SheafError("USAGE", `the session ${sessionId} has no response to fork from: create a new session`);
}
