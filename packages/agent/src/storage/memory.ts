/** A store that lives as long as the process (`--no-save`). */
import type { RunEvent } from "@sheaf/protocol";
import { SheafError } from "../errors.ts";
import type { ConversationRecord, ResponseRecord, Store } from "./store.ts";

interface StoredResponse {
  readonly id: string;
  readonly conversationId: string;
  readonly position: number;
  readonly createdAt: number;
  readonly events: RunEvent[];
}

/** Makes an empty store. */
export function createMemoryStore(): Store {
  const conversations = new Map<string, ConversationRecord>();
  const responses = new Map<string, StoredResponse>();

  const responsesOf = (conversationId: string): StoredResponse[] =>
    [...responses.values()].filter((response) => response.conversationId === conversationId);

  return {
    async createResponse(response) {
      const { id, conversationId, workspace, title, createdAt } = response;
      if (responses.has(id))
        throw new SheafError("INTERNAL", `response ${id} is stored already`, { source: "storage" });
      const known = conversations.get(conversationId);
      conversations.set(conversationId, {
        id: conversationId,
        workspace: known?.workspace ?? workspace,
        title: known?.title ?? title,
        createdAt: known?.createdAt ?? createdAt,
        updatedAt: createdAt,
      });
      const position = responsesOf(conversationId).length + 1;
      const stored: StoredResponse = { id, conversationId, position, createdAt, events: [] };
      responses.set(id, stored);
      return toRecord(stored);
    },

    async appendEvents(responseId, events) {
      const stored = responses.get(responseId);
      if (!stored) throw new SheafError("INTERNAL", `response ${responseId} is not stored`, { source: "storage" });
      let expected = stored.events.length + 1;
      for (const event of events) {
        if (event.seq !== expected) {
          throw new SheafError(
            "INTERNAL",
            `event ${event.seq} of ${responseId} does not follow event ${expected - 1}`,
            {
              source: "storage",
            },
          );
        }
        expected += 1;
      }
      stored.events.push(...events);
    },

    async readEvents(responseId, after = 0) {
      return responses.get(responseId)?.events.slice(after) ?? [];
    },

    async getResponse(responseId) {
      const stored = responses.get(responseId);
      return stored && toRecord(stored);
    },

    async listResponses(conversationId) {
      return responsesOf(conversationId).map(toRecord);
    },

    async getConversation(conversationId) {
      return conversations.get(conversationId);
    },

    async listConversations({ limit, workspace }) {
      return [...conversations.values()]
        .filter((conversation) => workspace === undefined || conversation.workspace === workspace)
        .toSorted((a, b) => b.updatedAt - a.updatedAt)
        .slice(0, limit);
    },

    async close() {
      // Nothing to let go of.
    },
  };
}

function toRecord(stored: StoredResponse): ResponseRecord {
  const { id, conversationId, position, createdAt, events } = stored;
  return {
    id,
    conversationId,
    position,
    createdAt,
    lastSeq: events.length,
    ended: events.at(-1)?.type === "run_end",
  };
}
