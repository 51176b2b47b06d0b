/** The port between conversations and storage. One contract suite runs against every implementation. */
import type { RunEvent } from "@sheaf/protocol";
import { SheafError } from "../base/errors.ts";

/** The owner of everything that the command line keeps. */
export const localOwner = "local";

/** In place of a file: a store in memory, which nothing outside of it sees and which ends with it. */
export const memoryFile = ":memory:";

/** A row of conversations. */
export interface ConversationRecord {
  /** `conv_<uuid>`. */
  readonly id: string;
  /** Absolute root of the workspace. */
  readonly workspace: string;
  /** First prompt, shortened. */
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A row of responses. */
export interface ResponseRecord {
  /** `chat_<uuid>`. */
  readonly id: string;
  readonly conversationId: string;
  /** Place in the conversation, from 1. */
  readonly position: number;
  readonly createdAt: number;
  /** Number of the last event stored; 0 if there is none. */
  readonly lastSeq: number;
  /** Whether `run_end` is stored. */
  readonly ended: boolean;
  /** Reverted by the user: kept, but no longer part of the history. */
  readonly reverted: boolean;
}

/** A response that begins. */
export interface NewResponse {
  readonly id: string;
  readonly conversationId: string;
  readonly workspace: string;
  /** Of the conversation, if it is new. */
  readonly title: string;
  readonly createdAt: number;
  /** The request that asked for it, so that it is answered once (X9). */
  readonly request?: RequestKey | undefined;
}

/** A request that may come again (X9). */
export interface RequestKey {
  /** Chosen by the client. */
  readonly key: string;
  /** Of what was asked. */
  readonly digest: string;
}

/** A request that was answered (X9). */
export interface RequestRecord extends RequestKey {
  readonly responseId: string;
  readonly conversationId: string;
}

/** A conversation that is stored whole, with logs that have ended. */
export interface CompleteConversation extends ConversationRecord {
  readonly responses: readonly {
    readonly id: string;
    readonly createdAt: number;
    readonly events: readonly RunEvent[];
  }[];
}

/** What was used up (S-55). */
export interface OwnerUsage {
  /** Model requests. */
  readonly turns: number;
  readonly costUsd: number;
}

/** A response without its end. */
export interface OpenResponse {
  readonly id: string;
  readonly owner: string;
}

/** What becomes of a writer that tells that it lives: `cancel` when somebody wants it to stop, `lost` when another took over. */
export type LeaseState = "kept" | "cancel" | "lost";

/**
 * `grouped`: survives the death of this process. `synced`: survives the death of the machine too.
 * Ends of messages and documents, and tool results, are synced.
 */
export type Durability = "grouped" | "synced";

/** How conversations are looked for. */
export interface ConversationQuery {
  readonly limit: number;
  readonly workspace?: string | undefined;
  /** Only what follows this one in the list. */
  readonly behind?: Pick<ConversationRecord, "id" | "updatedAt"> | undefined;
  /** Only those whose title or messages hold this text, whatever its case. */
  readonly search?: string | undefined;
}

/**
 * Durable conversations, responses and their logs, as one owner sees them: nothing of others can be reached (S-53).
 * A conversation has one writer at a time, over all processes: it holds a lease, which ends with its response, with its
 * process, or when it says nothing for a while; each lease has a higher number than the one before, and a writer with an
 * old number can write nothing any more. Failures are `SheafError`s with a STORAGE_ code.
 */
export interface Store {
  /** An append takes a while, and a large one hardly longer than a small one: what comes meanwhile is better one group. */
  readonly gathersWrites: boolean;
  /**
   * Opens a response at the end of its conversation, which is made if it is new, and takes the lease.
   * @throws SheafError CONVERSATION_BUSY while another writer has it, or when its request was answered meanwhile.
   */
  createResponse(response: NewResponse): Promise<ResponseRecord>;
  /**
   * Takes the lease of a response that has no end and no writer, so that it can be ended.
   * False: it has ended, has a writer, or does not exist.
   */
  claimResponse(responseId: string): Promise<boolean>;
  /** Tells that the writer of a response lives; every few seconds while it does. */
  keepLease(responseId: string): Promise<LeaseState>;
  /** Asks the writer of a response to stop, wherever it runs. */
  requestCancel(responseId: string): Promise<void>;
  /**
   * Adds events to the log of a response that was created or claimed here, all or none. `seq` goes on from the last one
   * without a gap. `run_end` gives the lease back.
   * @throws SheafError CONVERSATION_BUSY when another writer took over; STORAGE_FULL, STORAGE_LOCKED, STORAGE_CORRUPT;
   * INTERNAL for a gap.
   */
  appendEvents(responseId: string, events: readonly RunEvent[], durability: Durability): Promise<void>;
  /** Events with `seq` above `after`, in order; with `limit` about so many, at least one if there is one. */
  readEvents(responseId: string, after?: number, limit?: number): Promise<readonly RunEvent[]>;
  /**
   * Takes the lease of a conversation for something else than a response; the result gives it back.
   * Undefined: the conversation does not exist. @throws SheafError CONVERSATION_BUSY.
   */
  lockConversation(conversationId: string): Promise<(() => Promise<void>) | undefined>;
  /** Takes the responses of a conversation from a position on out of its history. */
  revertResponses(conversationId: string, fromPosition: number): Promise<void>;
  getResponse(responseId: string): Promise<ResponseRecord | undefined>;
  /** In order of their position; reverted ones too. */
  listResponses(conversationId: string): Promise<readonly ResponseRecord[]>;
  getConversation(conversationId: string): Promise<ConversationRecord | undefined>;
  /** Newest first. */
  listConversations(query: ConversationQuery): Promise<readonly ConversationRecord[]>;
  close(): Promise<void>;
}

/** What a server needs besides. */
export interface SharedStore extends Store {
  /** The same store as another owner sees it; closing one closes all. */
  forOwner(owner: string): SharedStore;
  /** Responses of every owner that have no end; most of them run. Oldest first. */
  listOpenResponses(): Promise<readonly OpenResponse[]>;
  /** The response to a request (X9). */
  findRequest(key: string): Promise<RequestRecord | undefined>;
  /** Stores a conversation whole or not at all. */
  addConversation(conversation: CompleteConversation): Promise<void>;
  countConversations(): Promise<number>;
  /** What an owner used up in a day, `2026-02-23`. */
  readUsage(day: string): Promise<OwnerUsage>;
  addUsage(day: string, usage: OwnerUsage): Promise<void>;
  /** False: it does not exist. @throws SheafError CONVERSATION_BUSY. */
  deleteConversation(conversationId: string): Promise<boolean>;
}

/** Another writer has the conversation. */
export function createBusyError(conversationId: string): SheafError {
  return new SheafError(
    "CONVERSATION_BUSY",
    `another response of ${conversationId} is being written: wait for its end, or cancel it`,
    { source: "storage" },
  );
}

/** Another writer took the response over. */
export function createLostError(responseId: string): SheafError {
  return new SheafError(
    "CONVERSATION_BUSY",
    `another process took ${responseId} over, since this one said nothing for a while: look at what it wrote`,
    { source: "storage" },
  );
}
