/** The port between conversations and storage. One contract suite runs against every implementation. */
import type { RunEvent } from "@sheaf/protocol";

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
}

/**
 * `grouped`: survives the death of this process. `synced`: survives the death of the machine too.
 * Ends of messages and documents, and tool results, are synced.
 */
export type Durability = "grouped" | "synced";

/** Durable conversations, responses and their logs. Failures are `SheafError`s with a STORAGE_ code. */
export interface Store {
  /** Opens a response at the end of its conversation; makes the conversation if it is new. */
  createResponse(response: {
    readonly id: string;
    readonly conversationId: string;
    readonly workspace: string;
    readonly title: string;
    readonly createdAt: number;
  }): Promise<ResponseRecord>;
  /**
   * Adds events to the log of a response, all or none. `seq` goes on from the last one without a gap.
   * @throws SheafError STORAGE_FULL, STORAGE_LOCKED, STORAGE_CORRUPT; INTERNAL for a gap.
   */
  appendEvents(responseId: string, events: readonly RunEvent[], durability: Durability): Promise<void>;
  /** Events with `seq` above `after`, in order. */
  readEvents(responseId: string, after?: number): Promise<readonly RunEvent[]>;
  getResponse(responseId: string): Promise<ResponseRecord | undefined>;
  /** In order of their position. */
  listResponses(conversationId: string): Promise<readonly ResponseRecord[]>;
  getConversation(conversationId: string): Promise<ConversationRecord | undefined>;
  /** Newest first. */
  listConversations(options: {
    readonly limit: number;
    readonly workspace?: string;
  }): Promise<readonly ConversationRecord[]>;
  close(): Promise<void>;
}
