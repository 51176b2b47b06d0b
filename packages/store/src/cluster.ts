/** The port to what processes do together that share a database: each may begin, continue and answer for the others. */
import { SheafError } from "@sheaf/base/errors";
import type { RequestKey } from "./store.ts";

/** Messages that may wait for one conversation. */
export const MAX_WAITING = 16;

/** A message that will become a response. */
export interface WaitingMessage {
  /** `chat_<uuid>`. */
  readonly responseId: string;
  /** `conv_<uuid>`. */
  readonly conversationId: string;
  /** All that another process needs to begin it. JSON. */
  readonly text: string;
  readonly request?: RequestKey | undefined;
  /** It may also reach the response that runs, and is before all that may not (C240). */
  readonly steers?: boolean | undefined;
}

/** A message in the list of its conversation. */
export type ListedMessage = Pick<WaitingMessage, "responseId" | "text"> & { readonly steers: boolean };

/** A message in a new order. Without `steers` it keeps its own. */
export type MessagePlace = Pick<ListedMessage, "responseId"> & Partial<Pick<ListedMessage, "steers">>;

/** A message that has not begun. */
export interface FoundMessage extends Pick<WaitingMessage, "conversationId" | "text"> {
  /** The reason for which it can't begin; null: it may. */
  readonly failure: string | null;
}

/** A message that this process is to begin. */
export interface ClaimedMessage extends Pick<WaitingMessage, "responseId" | "text"> {
  readonly owner: string;
}

/** Messages that wait in the store until a process begins them. An owner sees only its own; `claim` sees all. */
export interface WaitingMessages {
  /**
   * `maxWaiting`: messages of this owner that may wait, in all conversations.
   * @throws SheafError CONVERSATION_BUSY when too many wait for the conversation, or the same request does; OVERLOADED at the limit (`isWaitingLimit`).
   */
  add(message: WaitingMessage, maxWaiting: number): Promise<void>;
  hasWaiting(conversationId: string): Promise<boolean>;
  /** Those that may begin or be removed, in their order. */
  list(conversationId: string): Promise<readonly ListedMessage[]>;
  /** Sets the order and `steers` of these messages; the others follow. Ids that no longer wait have no effect. */
  arrange(conversationId: string, order: readonly MessagePlace[]): Promise<void>;
  /**
   * The messages that steer the response, in their order. They stay stored until its log has a `user_message` with their
   * id, and wait again if the response ends before; until then each call gives them.
   */
  take(responseId: string): Promise<readonly Pick<WaitingMessage, "responseId" | "text">[]>;
  /** Undefined: the message has begun, or doesn't exist. */
  find(responseId: string): Promise<FoundMessage | undefined>;
  /** The same without the text, which has attachments. */
  findFailure(responseId: string): Promise<Pick<FoundMessage, "failure"> | undefined>;
  /** False: it does not wait any more. */
  remove(responseId: string): Promise<boolean>;
  /**
   * The next message that may begin, with a cluster for this process alone as long as it lives: the first of its conversation, in which
   * nothing runs, of the owner with the fewest running responses, who has less than `maxRunning`.
   * `starting`: those that it has claimed and is about to begin.
   */
  claim(maxRunning: number, starting: readonly string[]): Promise<ClaimedMessage | undefined>;
  /** For a claimed message that cannot begin yet: others may try in a moment. */
  giveBack(responseId: string): Promise<void>;
  /** For a claimed message that cannot begin at all. */
  fail(responseId: string, failure: string): Promise<void>;
  /**
   * Calls back when another process has made a message free to begin, or perhaps not, until the result is called. With
   * `responseId`, calls back after a change of this message alone.
   */
  watch(onChange: () => void, responseId?: string): () => void;
}

/** Questions to the writer of a response, wherever it runs. The writer learns of them by `watchResponse`. */
export interface Mailbox {
  /**
   * Resolves with the reply. Undefined: the response has ended, `isOver` says that the question is, or nobody took it in
   * time, and nobody will. `isOver` is called from time to time.
   */
  ask(responseId: string, text: string, isOver: () => Promise<boolean>): Promise<string | undefined>;
  /** New questions to a response that is written here, each once. A writer that lost its lease gets nothing. */
  take(responseId: string): Promise<readonly { readonly id: string; readonly text: string }[]>;
  reply(responseId: string, questionId: string, text: string): Promise<void>;
}

/** What all processes of a store do now. */
export interface SharedLoad {
  /** Processes that are alive. */
  readonly nodes: number;
  readonly running: number;
  /** Messages that wait for their turn. */
  readonly waiting: number;
  /** Since the oldest of them came; 0: nothing waits. Seconds. */
  readonly oldestSeconds: number;
}

/** The way a new response takes part in what the processes do together. */
export interface ClusterTerms {
  /** It waited among the messages. */
  readonly hasWaited: boolean;
  /** Number of responses its owner may have at the same time, in all processes. */
  readonly maxRunning: number;
  /** If its process dies, another one continues it by this: `text` of a message. Undefined: another one ends it. */
  readonly continuation: string | undefined;
}

/** As one owner sees it. Only PostgreSQL has it: with SQLite, each process works by itself. */
export interface Cluster {
  readonly mailbox: Mailbox;
  /** The `continuation` of a response that has begun, whose process died, and that another one may continue. */
  findCut(responseId: string): Promise<string | undefined>;
  /** Takes the lease of such a response. False: its process lives, or it was continued too often. */
  takeOver(responseId: string): Promise<boolean>;
  /** Sets whether another process may continue a response that runs here, should this one die. */
  setContinuable(responseId: string, isContinuable: boolean): Promise<void>;
  readLoad(): Promise<SharedLoad>;
  /**
   * From now on this process stores nothing more of its responses, and begins none. Others may continue them once the
   * result was called. Resolves with undefined when no other process is there: nothing has changed then.
   */
  handOver(): Promise<(() => Promise<void>) | undefined>;
}

const WAITING_LIMIT = "waiting-limit";

/** The owner has as many waiting messages as allowed, at all processes. */
export function createWaitingLimitError(): SheafError {
  const message = "too many messages wait at the same time: wait until one has begun";
  return new SheafError("OVERLOADED", message, { source: "storage", details: WAITING_LIMIT });
}

export function isWaitingLimit(error: unknown): boolean {
  return error instanceof SheafError && error.details === WAITING_LIMIT;
}

export function createFullError(conversationId: string): SheafError {
  const message = `${MAX_WAITING} messages wait for ${conversationId} already, or this one does: wait until one of them has begun`;
  return new SheafError("CONVERSATION_BUSY", message, { source: "server" });
}
