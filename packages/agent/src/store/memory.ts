/** A store that lives as long as the process (`--no-save`). */
import type { RunEvent } from "@sheaf/protocol";
import { SheafError } from "../base/errors.ts";
import { createBusyError } from "./busy-error.ts";
import {
  localOwner,
  type ConversationQuery,
  type ConversationRecord,
  type OwnerUsage,
  type RequestRecord,
  type ResponseRecord,
  type SharedStore,
} from "./store.ts";

interface StoredConversation {
  record: ConversationRecord;
  readonly owner: string;
  readonly responses: StoredResponse[];
  isLocked: boolean;
}

interface StoredResponse {
  readonly id: string;
  readonly conversation: StoredConversation;
  readonly createdAt: number;
  readonly events: RunEvent[];
  reverted: boolean;
  /** Somebody writes it. */
  isLeased: boolean;
  isCancelled: boolean;
}

interface Tables {
  readonly conversations: Map<string, StoredConversation>;
  readonly responses: Map<string, StoredResponse>;
  readonly requests: Map<string, RequestRecord>;
  readonly usages: Map<string, OwnerUsage>;
}

/** Makes an empty store, of which this is the local owner's view. */
export function createMemoryStore(): SharedStore {
  return createView(
    { conversations: new Map(), responses: new Map(), requests: new Map(), usages: new Map() },
    localOwner,
  );
}

function createView(tables: Tables, owner: string): SharedStore {
  const { conversations, responses, requests, usages } = tables;

  const find = (id: string): StoredResponse | undefined => {
    const found = responses.get(id);
    return found?.conversation.owner === owner ? found : undefined;
  };
  const findConversation = (id: string): StoredConversation | undefined => {
    const found = conversations.get(id);
    return found?.owner === owner ? found : undefined;
  };
  const toOwnKey = (key: string): string => JSON.stringify([owner, key]);

  return {
    gathersWrites: false,
    forOwner: (other) => createView(tables, other),

    async createResponse({ id, conversationId, workspace, title, createdAt, request }) {
      if (responses.has(id)) {
        throw new SheafError("INTERNAL", `response ${id} is stored already`, { source: "storage" });
      }
      const record = { id: conversationId, workspace, title, createdAt, updatedAt: createdAt };
      const conversation = conversations.get(conversationId) ?? { record, owner, responses: [], isLocked: false };
      if (conversation.owner !== owner) {
        throw new SheafError("USAGE", `the id ${conversationId} is taken: choose another one`, { source: "storage" });
      }
      if (isBusy(conversation) || (request && requests.has(toOwnKey(request.key)))) {
        throw createBusyError(conversationId);
      }
      conversation.record = { ...conversation.record, updatedAt: createdAt };
      conversations.set(conversationId, conversation);
      const stored = createStored(id, conversation, createdAt);
      stored.isLeased = true;
      conversation.responses.push(stored);
      responses.set(id, stored);
      if (request) requests.set(toOwnKey(request.key), { ...request, responseId: id, conversationId });
      return toRecord(stored);
    },

    async claimResponse(responseId) {
      const stored = find(responseId);
      if (!stored || hasEnded(stored) || isBusy(stored.conversation)) return false;
      stored.isLeased = true;
      return true;
    },

    async keepLease(responseId) {
      return find(responseId)?.isCancelled ? "cancel" : "kept";
    },

    async requestCancel(responseId) {
      const stored = find(responseId);
      if (stored) stored.isCancelled = true;
    },

    async appendEvents(responseId, events) {
      const stored = find(responseId);
      if (!stored) throw new SheafError("INTERNAL", `response ${responseId} is not stored`, { source: "storage" });
      checkNumbers(stored, events);
      stored.events.push(...events);
      if (hasEnded(stored)) stored.isLeased = false;
    },

    async readEvents(responseId, after = 0, limit = Number.POSITIVE_INFINITY) {
      return find(responseId)?.events.slice(after, after + limit) ?? [];
    },

    async lockConversation(conversationId) {
      const conversation = findConversation(conversationId);
      if (!conversation) return undefined;
      if (isBusy(conversation)) throw createBusyError(conversationId);
      conversation.isLocked = true;
      return async () => {
        conversation.isLocked = false;
      };
    },

    async revertResponses(conversationId, fromPosition) {
      const conversation = findConversation(conversationId);
      if (!conversation) return;
      for (const response of conversation.responses.slice(Math.max(0, fromPosition - 1))) response.reverted = true;
    },

    async getResponse(responseId) {
      const stored = find(responseId);
      return stored && toRecord(stored);
    },

    async listResponses(conversationId) {
      return findConversation(conversationId)?.responses.map(toRecord) ?? [];
    },

    async getConversation(conversationId) {
      return findConversation(conversationId)?.record;
    },

    async listConversations(query) {
      return queryConversations(
        [...conversations.values()].filter((conversation) => conversation.owner === owner),
        query,
      );
    },

    async listOpenResponses() {
      return [...responses.values()]
        .filter((stored) => !hasEnded(stored))
        .map(({ id, conversation }) => ({ id, owner: conversation.owner }));
    },

    async findRequest(key) {
      return requests.get(toOwnKey(key));
    },

    async countConversations() {
      return [...conversations.values()].filter((conversation) => conversation.owner === owner).length;
    },

    async readUsage(day) {
      return usages.get(toOwnKey(day)) ?? { turns: 0, costUsd: 0 };
    },

    async addUsage(day, { turns, costUsd }) {
      const before = usages.get(toOwnKey(day)) ?? { turns: 0, costUsd: 0 };
      usages.set(toOwnKey(day), { turns: before.turns + turns, costUsd: before.costUsd + costUsd });
    },

    async addConversation({ responses: added, ...record }) {
      const conversation: StoredConversation = { record, owner, responses: [], isLocked: false };
      for (const { id, createdAt, events } of added) {
        const stored = createStored(id, conversation, createdAt);
        stored.events.push(...events);
        conversation.responses.push(stored);
        responses.set(id, stored);
      }
      conversations.set(record.id, conversation);
    },

    async deleteConversation(conversationId) {
      const conversation = findConversation(conversationId);
      if (!conversation) return false;
      if (isBusy(conversation)) throw createBusyError(conversationId);
      conversations.delete(conversationId);
      for (const { id } of conversation.responses) responses.delete(id);
      for (const [key, request] of requests) if (request.conversationId === conversationId) requests.delete(key);
      return true;
    },

    async close() {
      // Nothing to let go of.
    },
  };
}

function createStored(id: string, conversation: StoredConversation, createdAt: number): StoredResponse {
  return { id, conversation, createdAt, events: [], reverted: false, isLeased: false, isCancelled: false };
}

function hasEnded({ events }: StoredResponse): boolean {
  return events.at(-1)?.type === "run_end";
}

function isBusy({ responses, isLocked }: StoredConversation): boolean {
  return isLocked || responses.some(({ isLeased }) => isLeased);
}

function checkNumbers({ id, events }: StoredResponse, added: readonly RunEvent[]): void {
  let expected = events.length + 1;
  for (const { seq } of added) {
    if (seq !== expected) {
      const message = `event ${seq} of ${id} does not follow event ${expected - 1}`;
      throw new SheafError("INTERNAL", message, { source: "storage" });
    }
    expected += 1;
  }
}

function queryConversations(
  conversations: readonly StoredConversation[],
  { limit, workspace, behind, search }: ConversationQuery,
): ConversationRecord[] {
  const text = search?.toLowerCase();
  const isFound = ({ record, responses }: StoredConversation): boolean =>
    text === undefined ||
    [record.title, ...responses.map(({ events: [first] }) => (first?.type === "run_start" ? first.prompt : ""))].some(
      (words) => words.toLowerCase().includes(text),
    );
  // Of those with the same time the newest comes first.
  const sorted = conversations.toReversed().toSorted((a, b) => b.record.updatedAt - a.record.updatedAt);
  const start = behind ? sorted.findIndex(({ record }) => record.id === behind.id) + 1 : 0;
  return sorted
    .slice(start)
    .filter(({ record }) => workspace === undefined || record.workspace === workspace)
    .filter(isFound)
    .slice(0, limit)
    .map(({ record }) => record);
}

function toRecord(stored: StoredResponse): ResponseRecord {
  const { id, conversation, createdAt, events, reverted } = stored;
  return {
    id,
    conversationId: conversation.record.id,
    position: conversation.responses.indexOf(stored) + 1,
    createdAt,
    lastSeq: events.length,
    ended: hasEnded(stored),
    reverted,
  };
}
