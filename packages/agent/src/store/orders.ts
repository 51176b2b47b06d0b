/** The port to messages that wait in the store, where any process may begin them. */
import { SheafError } from "../base/errors.ts";
import type { RequestKey } from "./store.ts";

/** Messages that may wait for one conversation. */
export const MAX_WAITING = 16;

/** A message that will become a response. */
export interface NewOrder {
  /** `chat_<uuid>`. */
  readonly responseId: string;
  /** `conv_<uuid>`. */
  readonly conversationId: string;
  /** All that another process needs to begin it. JSON. */
  readonly text: string;
  readonly request?: RequestKey | undefined;
}

/** One that has not begun. */
export interface WaitingOrder extends Pick<NewOrder, "conversationId" | "text"> {
  /** Why it cannot begin; null: it may. */
  readonly failure: string | null;
}

/** One that this process is to begin. */
export interface ClaimedOrder extends Pick<NewOrder, "responseId" | "text"> {
  readonly owner: string;
}

/** As one owner sees them; `claim` is for those of all. */
export interface Orders {
  /**
   * `maxWaiting`: messages of this owner that may wait, in all conversations.
   * @throws SheafError CONVERSATION_BUSY when too many wait for the conversation, or the same request does; WaitingLimitError.
   */
  add(order: NewOrder, maxWaiting: number): Promise<void>;
  hasWaiting(conversationId: string): Promise<boolean>;
  /** Undefined: it has begun, was removed, or does not exist. */
  find(responseId: string): Promise<WaitingOrder | undefined>;
  /** False: it does not wait any more. */
  remove(responseId: string): Promise<boolean>;
  /**
   * The next order that may begin, for this process alone as long as it lives: the first of its conversation, in which
   * nothing runs, of the owner with the fewest running responses, who has less than `maxRunning`.
   * `starting`: those that it has claimed and is about to begin.
   */
  claim(maxRunning: number, starting: readonly string[]): Promise<ClaimedOrder | undefined>;
  /** For a claimed order that cannot begin yet: others may try in a moment. */
  giveBack(responseId: string): Promise<void>;
  /** For a claimed order that cannot begin at all. */
  fail(responseId: string, failure: string): Promise<void>;
  /** Of a response that has begun, whose process died, and that may go on in another one. */
  findCut(responseId: string): Promise<string | undefined>;
  /** Takes the lease of such a response, whose process died. False: it did not, or the response went on too often. */
  takeOver(responseId: string): Promise<boolean>;
  /** Whether another process may go on with a response that runs here, should this one die. */
  setResumable(responseId: string, isResumable: boolean): Promise<void>;
  /** Calls back when another process has made an order free to begin, or perhaps not, until the result is called. */
  watch(onChange: () => void): () => void;
}

/** The owner has as many waiting messages as allowed, at all processes. */
export class WaitingLimitError extends SheafError {
  constructor() {
    super("OVERLOADED", "too many messages wait at the same time: wait until one has begun", { source: "storage" });
  }
}

export function createFullError(conversationId: string): SheafError {
  const message = `${MAX_WAITING} messages wait for ${conversationId} already, or this one does: wait until one of them has begun`;
  return new SheafError("CONVERSATION_BUSY", message, { source: "server" });
}
