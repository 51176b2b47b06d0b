/** The port to processes that share a database: each may start, continue and answer for the others. */
import { SheafError } from "@sheaf/base/errors";
import type { RequestKey } from "./store.ts";

/** Messages that may wait for one conversation. */
export const MAX_WAITING = 16;

/** A message that will become a response. */
export interface WaitingMessage {
  /** Id of the response: `chat_<uuid>`. */
  readonly responseId: string;
  /** Id of the conversation: `conv_<uuid>`. */
  readonly conversationId: string;
  /** The data with which another process can start the message. JSON. */
  readonly text: string;
  readonly request?: RequestKey | undefined;
  /** True if the message may join the running response; it precedes all messages that may not (C240). */
  readonly steers?: boolean | undefined;
}

/** A message in the list of its conversation. */
export type ListedMessage = Pick<WaitingMessage, "responseId" | "text"> & { readonly steers: boolean };

/** A message in a new order. Without `steers` its `steers` stays unchanged. */
export type MessagePlace = Pick<ListedMessage, "responseId"> & Partial<Pick<ListedMessage, "steers">>;

/** A message that hasn't started. */
export interface FoundMessage extends Pick<WaitingMessage, "conversationId" | "text"> {
  /** The reason why it can't start; null: it can. */
  readonly failure: string | null;
}

/** A message that this process must start. */
export interface ClaimedMessage extends Pick<WaitingMessage, "responseId" | "text"> {
  readonly owner: string;
}

/** Messages that wait in the store until a process starts them. An owner sees only its own; `claim` sees all. */
export interface WaitingMessages {
  /**
   * Adds a message. `maxWaiting`: messages of this owner that may wait, in all conversations.
   * @throws SheafError CONVERSATION_BUSY if too many messages, or the same request, wait for the conversation;
   * OVERLOADED at the limit (`isWaitingLimit`).
   */
  add(message: WaitingMessage, maxWaiting: number): Promise<void>;
  hasWaiting(conversationId: string): Promise<boolean>;
  /** Lists messages that may start or be removed, in their order. */
  list(conversationId: string): Promise<readonly ListedMessage[]>;
  /** Sets the order and `steers` of these messages; the others follow. Ignores ids that no longer wait. */
  arrange(conversationId: string, order: readonly MessagePlace[]): Promise<void>;
  /**
   * Returns the messages that steer the response, in their order. They stay stored until its log has a `user_message`
   * with their id, and wait again if the response ends before; until then each call returns them.
   */
  take(responseId: string): Promise<readonly Pick<WaitingMessage, "responseId" | "text">[]>;
  /** Returns undefined if the message has started, or doesn't exist. */
  find(responseId: string): Promise<FoundMessage | undefined>;
  /** Finds the failure without the text, which has attachments. */
  findFailure(responseId: string): Promise<Pick<FoundMessage, "failure"> | undefined>;
  /** Returns false if the message no longer waits. */
  remove(responseId: string): Promise<boolean>;
  /**
   * Claims the next message that may start; in a cluster only for this process, while it lives. It is the first message
   * of a conversation without a running response, of the owner with the fewest running responses, below `maxRunning`.
   * `starting`: messages that the process has claimed and is about to start.
   */
  claim(maxRunning: number, starting: readonly string[]): Promise<ClaimedMessage | undefined>;
  /** Returns a claimed message that can't start yet: other processes may try in a moment. */
  giveBack(responseId: string): Promise<void>;
  /** Marks a claimed message that can never start. */
  fail(responseId: string, failure: string): Promise<void>;
  /**
   * Calls back when another process may have freed a message to start, until you call the result. With `responseId`,
   * calls back after a change of this message alone.
   */
  watch(onChange: () => void, responseId?: string): () => void;
}

/** Questions to the writer of a response, wherever it runs. The writer learns of them by `watchResponse`. */
export interface Mailbox {
  /**
   * Asks the writer, and resolves with its reply. Resolves with undefined if the response ends, `isOver` returns true,
   * or no writer took the question in time; then none will. Calls `isOver` at intervals.
   */
  ask(responseId: string, text: string, isOver: () => Promise<boolean>): Promise<string | undefined>;
  /** Returns new questions to a response that is written here, each once. A writer without its lease gets none. */
  take(responseId: string): Promise<readonly { readonly id: string; readonly text: string }[]>;
  reply(responseId: string, questionId: string, text: string): Promise<void>;
}

/** Load of a store's processes. */
export interface SharedLoad {
  /** Processes that are alive. */
  readonly nodes: number;
  readonly running: number;
  /** Messages that wait for their turn. */
  readonly waiting: number;
  /** Age of the oldest waiting message; 0: no message waits. Seconds. */
  readonly oldestSeconds: number;
}

/** Terms on which a new response shares the work of the processes. */
export interface ClusterTerms {
  /** True if the response was a waiting message. */
  readonly hasWaited: boolean;
  /** True if the conversation must exist: a late message must not bring back one that was deleted meanwhile. */
  readonly continues?: boolean;
  /** Number of responses that its owner may have at the same time, in all processes. */
  readonly maxRunning: number;
  /** Text of a message to continue the response if its process dies. Undefined: others only end it. */
  readonly continuation: string | undefined;
}

/** The cluster for one owner. Only PostgreSQL has one: with SQLite, each process works by itself. */
export interface Cluster {
  readonly mailbox: Mailbox;
  /** Returns the `continuation` of a response whose process died, if another process may continue it. */
  findCut(responseId: string): Promise<string | undefined>;
  /** Takes the lease of such a response. Returns false if its process lives, or it was continued too often. */
  takeOver(responseId: string): Promise<boolean>;
  /** Sets if another process may continue a response that runs here, should this one die. */
  setContinuable(responseId: string, isContinuable: boolean): Promise<void>;
  readLoad(): Promise<SharedLoad>;
  /**
   * Stops this process: it stores no more events of its responses, and starts none. Others may continue these once you
   * call the result. Resolves with undefined, and changes nothing, without another process.
   */
  handOver(): Promise<(() => Promise<void>) | undefined>;
}

const WAITING_LIMIT = "waiting-limit";

/** The error if the owner has as many waiting messages as allowed, in all processes. */
export function createWaitingLimitError(): SheafError {
  const message = "too many messages wait at the same time: wait until one has started";
  return new SheafError("OVERLOADED", message, { source: "storage", details: WAITING_LIMIT });
}

export function isWaitingLimit(error: unknown): boolean {
  return error instanceof SheafError && error.details === WAITING_LIMIT;
}

export function createFullError(conversationId: string): SheafError {
  const message = `${MAX_WAITING} messages wait for ${conversationId} already, or this one does: wait until one of them has started`;
  return new SheafError("CONVERSATION_BUSY", message, { source: "server" });
}
