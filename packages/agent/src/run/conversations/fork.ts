/** A new conversation that starts with the history of another one up to a response. Files stay as they are. */
import { randomUUID } from "node:crypto";
import type { RunEvent } from "@sheaf/protocol";
import { SheafError } from "@sheaf/base/errors";
import type { ConversationRecord, SharedStore } from "@sheaf/store/store";

/**
 * Undefined: the conversation does not exist, does not have the response, or the response was reverted.
 * @throws SheafError CONVERSATION_BUSY while the response is running; STORAGE_…
 */
export async function forkConversation(
  store: SharedStore,
  conversationId: string,
  responseId: string,
  now: () => number,
): Promise<ConversationRecord | undefined> {
  const conversation = await store.getConversation(conversationId);
  const present = (await store.listResponses(conversationId)).filter(({ reverted }) => !reverted);
  const last = present.find(({ id }) => id === responseId);
  if (!conversation || !last) return undefined;
  if (!last.ended) {
    const message = `${responseId} is being written: fork the conversation when it has ended, or at the response before`;
    throw new SheafError("CONVERSATION_BUSY", message, { source: "server" });
  }
  const time = now();
  const { workspace, title, settings } = conversation;
  const fork = { id: `conv_${randomUUID()}`, workspace, title, createdAt: time, updatedAt: time };
  const [start] = await store.readEvents(last.id, 0, 1);
  const atFork = start?.type === "run_start" ? { mode: start.mode, effort: start.effort } : {};
  const responses = [];
  for (const { id, position, createdAt } of present) {
    if (position > last.position) continue;
    const newId = `chat_${randomUUID()}`;
    const events = (await store.readEvents(id)).map((event) => toForked(event, newId, fork.id));
    responses.push({ id: newId, createdAt, events });
  }
  await store.addConversation({ ...fork, settings: { ...settings, ...atFork }, responses });
  return store.getConversation(fork.id);
}

/** Ids of responses are unique, so the copies get new ones. */
function toForked(event: RunEvent, responseId: string, conversationId: string): RunEvent {
  return event.type === "run_start" ? { ...event, responseId, conversationId } : event;
}
