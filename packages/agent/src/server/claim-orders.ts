/** Messages that wait in the store, where any server may begin them. */
import { setTimeout as sleep } from "node:timers/promises";
import type { RunStart } from "@sheaf/protocol";
import { isErrorCode, SheafError } from "../base/errors.ts";
import type { ClaimedOrder, Orders } from "../store/orders.ts";
import { isBusyError, type RequestKey, type SharedStore } from "../store/store.ts";
import { HttpError, toErrorAnswer } from "./http-error.ts";
import type { QueuedResponse } from "./queued-responses.ts";
import type { WholeRequest } from "./stored-attachments.ts";

/** How often a server looks, besides after each notice. Milliseconds. */
const LOOK_MS = 2000;

/** All that a server needs to begin a response that it was not asked for. */
export interface StoredOrder {
  readonly body: WholeRequest;
  readonly newConversationId: string;
  readonly request: RequestKey | undefined;
  /** What the response will begin with. */
  readonly start: Omit<RunStart, "type">;
}

/** A message that waits in the store; undefined: it does not. */
export async function findStoredOrder(
  store: SharedStore,
  owner: string,
  responseId: string,
): Promise<QueuedResponse | undefined> {
  const { orders } = store;
  const order = await orders?.find(responseId);
  if (!orders || !order || order.failure !== null) return undefined;
  const { conversationId, text } = order;
  return {
    responseId,
    conversationId,
    owner,
    start: (JSON.parse(text) as StoredOrder).start,
    get begun() {
      return waitForBegin(orders, store, responseId);
    },
    async cancel() {
      await orders.remove(responseId);
    },
  };
}

/** Resolves once it has begun, at any server. @throws SheafError when it cannot, or was cancelled. */
async function waitForBegin(orders: Orders, store: SharedStore, responseId: string): Promise<void> {
  let change = new AbortController();
  const endWatches = [store.watchResponse?.(responseId, () => change.abort()), orders.watch(() => change.abort())];
  try {
    for (;;) {
      const order = await orders.find(responseId);
      if (typeof order?.failure === "string") throw toFailure(order.failure);
      if (!order) {
        if (await store.getResponse(responseId)) return;
        throw new SheafError("CANCELLED", "cancelled by the user", { source: "user" });
      }
      await sleep(LOOK_MS, undefined, { signal: change.signal }).catch(() => undefined);
      change = new AbortController();
    }
  } finally {
    for (const endWatch of endWatches) endWatch?.();
  }
}

interface ClaimPorts {
  readonly store: SharedStore;
  /** Responses that one owner may have at the same time. */
  readonly maxRunning: number;
  /** Begins a response; resolves once it has. */
  readonly begin: (order: ClaimedOrder, stored: StoredOrder) => Promise<unknown>;
  readonly onFailure: (error: unknown) => void;
}

/** Begins what waits, from now on, whenever something may. */
export function startClaiming({ store, maxRunning, begin, onFailure }: ClaimPorts) {
  const { orders } = store;
  if (!orders) return { wake: () => undefined, close: () => undefined };
  const starting = new Set<string>();
  let isClosed = false;
  let isLooking = false;
  let mustLookAgain = false;

  const beginOrder = async (order: ClaimedOrder): Promise<void> => {
    const { responseId, owner, text } = order;
    const own = store.forOwner(owner).orders!;
    starting.add(responseId);
    try {
      await begin(order, JSON.parse(text) as StoredOrder);
    } catch (error) {
      if (mayBeginLater(error)) return await own.giveBack(responseId);
      const { errorCode, message, details } = toErrorAnswer(error).body.error;
      await own.fail(responseId, JSON.stringify({ code: errorCode, message, details }));
      if (errorCode === "INTERNAL") throw error;
    } finally {
      starting.delete(responseId);
    }
  };

  const claimAll = async (all: Orders): Promise<void> => {
    for (;;) {
      const order = isClosed ? undefined : await all.claim(maxRunning, [...starting]);
      if (!order) return;
      beginOrder(order).catch(onFailure);
    }
  };

  const look = async (): Promise<void> => {
    mustLookAgain = isLooking;
    if (isLooking || isClosed) return;
    isLooking = true;
    try {
      do {
        mustLookAgain = false;
        await claimAll(orders);
      } while (mustLookAgain as boolean);
    } finally {
      isLooking = false;
    }
  };
  const wake = (): void => void look().catch(onFailure);
  const timer = setInterval(wake, LOOK_MS);
  timer.unref();
  const endWatch = orders.watch(wake);
  return {
    /** Something has ended or was added here. */
    wake,
    close(): void {
      isClosed = true;
      clearInterval(timer);
      endWatch();
    },
  };
}

/** The conversation or the owner is busy again, or this server is going down or cannot reach its store. */
function mayBeginLater(error: unknown): boolean {
  if (error instanceof HttpError) return error.code === "LIMIT_REACHED";
  return isBusyError(error) || (error instanceof SheafError && ["OVERLOADED", "STORAGE_LOCKED"].includes(error.code));
}

function toFailure(failure: string): SheafError {
  const { code, message, details } = JSON.parse(failure) as { code: string; message: string; details: string };
  return new SheafError(isErrorCode(code) ? code : "USAGE", message, { source: "server", details });
}
