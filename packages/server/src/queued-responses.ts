/** Responses that are accepted and wait for another one of their conversation (`whenBusy: "queue"`). */
import { createReducer, type ChatResponse, type RunStart } from "@sheaf/protocol";
import type { SheafError } from "@sheaf/base/errors";
import type { SharedStore } from "@sheaf/store/store";
import { findWaiting } from "./claim-messages.ts";
import { createWireAssembler, type WireOptions } from "./response-channel.ts";

/** A response that has its ids, and no log. */
export interface QueuedResponse {
  readonly responseId: string;
  readonly conversationId: string;
  readonly owner: string;
  /** What it will begin with. */
  readonly start: Omit<RunStart, "type">;
  /** Resolves once it has begun. @throws SheafError when it cannot, or was cancelled. */
  readonly begun: Promise<unknown>;
  /** Takes it out of the queue. */
  cancel(reason: SheafError): Promise<void>;
}

/** Nothing waits here yet. `storeOf`: the store as an owner sees it, in which messages may also wait. */
export function createQueuedResponses(storeOf: (owner: string) => SharedStore) {
  const responses = new Map<string, QueuedResponse>();
  return {
    /** Keeps it until it has begun, or failed to. */
    add(response: QueuedResponse): void {
      const { responseId, begun } = response;
      responses.set(responseId, response);
      const forget = (): void => void responses.delete(responseId);
      begun.then(forget, forget);
    },
    /** Undefined: it does not exist, or is somebody else's (S-53). */
    async find(owner: string, responseId: string): Promise<QueuedResponse | undefined> {
      const response = responses.get(responseId);
      return response?.owner === owner ? response : findWaiting(storeOf(owner), owner, responseId);
    },
  };
}

export type QueuedResponses = ReturnType<typeof createQueuedResponses>;

/** The response before its first event, so that a client can attach to it (N3). `time` in milliseconds since 1970. */
export function toQueuedSnapshot({ start }: QueuedResponse, wire: WireOptions, time: number): ChatResponse {
  const reducer = createReducer();
  const events = createWireAssembler(wire).push({ type: "run_start", ...start, seq: 1, time });
  for (const event of events) reducer.push(event);
  const { response } = reducer;
  return { ...response, metadata: { ...response.metadata, lastEventId: 0 } };
}

/** Resolves when it is the caller's turn. */
export type TakeStartTurn = () => Promise<void>;

/**
 * One start per turn of the event loop, in the order of the calls; the first one at once. Starting a response takes
 * milliseconds of the one thread: a hundred at once would hold back every stream that runs until all have begun.
 */
export function createStartTurns(): TakeStartTurn {
  const waiting: (() => void)[] = [];
  let isTaken = false;

  const giveNext = (): void => {
    const next = waiting.shift();
    isTaken = next !== undefined;
    if (!next) return;
    setImmediate(giveNext);
    next();
  };

  return () =>
    new Promise((resolve) => {
      if (isTaken) {
        waiting.push(resolve);
        return;
      }
      isTaken = true;
      setImmediate(giveNext);
      resolve();
    });
}
