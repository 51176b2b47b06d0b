/** Messages that wait in the store, where any server may begin them. */
import { setTimeout as sleep } from "node:timers/promises";
import type { RunStart } from "@sheaf/protocol";
import { isErrorCode, SheafError } from "@sheaf/base/errors";
import type { ClaimedMessage, Cluster } from "@sheaf/store/cluster";
import { isBusyError, type RequestKey, type SharedStore } from "@sheaf/store/store";
import { HttpError, toErrorAnswer } from "./http-error.ts";
import type { QueuedResponse } from "./queued-responses.ts";
import type { WholeRequest } from "./stored-attachments.ts";

/** How often a server looks, apart from each notice. Milliseconds. */
const LOOK_MS = 2000;

/** All that a server needs to begin a response that it was not asked for. */
export interface StoredRequest {
  readonly body: WholeRequest;
  readonly newConversationId: string;
  readonly request: RequestKey | undefined;
  /** What the response will begin with. */
  readonly start: Omit<RunStart, "type">;
}

/** A message that waits in the store; undefined: it does not. */
export async function findWaiting(
  store: SharedStore,
  owner: string,
  responseId: string,
): Promise<QueuedResponse | undefined> {
  const { cluster } = store;
  const message = await cluster?.waiting.find(responseId);
  if (!cluster || !message || message.failure !== null) return undefined;
  const { conversationId, text } = message;
  return {
    responseId,
    conversationId,
    owner,
    start: (JSON.parse(text) as StoredRequest).start,
    get begun() {
      return waitForBegin(cluster, store, responseId);
    },
    async cancel() {
      await cluster.waiting.remove(responseId);
    },
  };
}

/** Resolves once it has begun, at any server. @throws SheafError when it cannot, or was cancelled. */
async function waitForBegin({ waiting }: Cluster, store: SharedStore, responseId: string): Promise<void> {
  let change = new AbortController();
  const endWatches = [store.watchResponse(responseId, () => change.abort()), waiting.watch(() => change.abort())];
  try {
    for (;;) {
      const message = await waiting.find(responseId);
      if (typeof message?.failure === "string") throw toFailure(message.failure);
      if (!message) {
        if (await store.getResponse(responseId)) return;
        throw new SheafError("CANCELLED", "cancelled by the user", { source: "user" });
      }
      await sleep(LOOK_MS, undefined, { signal: change.signal }).catch(() => undefined);
      change = new AbortController();
    }
  } finally {
    for (const endWatch of endWatches) endWatch();
  }
}

interface ClaimPorts {
  readonly store: SharedStore;
  /** Responses that one owner may have at the same time. */
  readonly maxRunning: number;
  /** Begins a response; resolves once it has. */
  readonly begin: (message: ClaimedMessage, stored: StoredRequest) => Promise<unknown>;
  readonly onFailure: (error: unknown) => void;
}

/** Begins what waits, from now on, whenever something may. */
export function startClaiming({ store, maxRunning, begin, onFailure }: ClaimPorts) {
  if (!store.cluster) return { wake: () => undefined, close: () => undefined };
  const { waiting } = store.cluster;
  const starting = new Set<string>();
  let isClosed = false;
  let isLooking = false;
  let mustLookAgain = false;

  const beginMessage = async (message: ClaimedMessage): Promise<void> => {
    const { responseId, text } = message;
    starting.add(responseId);
    try {
      await begin(message, JSON.parse(text) as StoredRequest);
    } catch (error) {
      if (mayBeginLater(error)) return await waiting.giveBack(responseId);
      const { errorCode: code, message: problem, details } = toErrorAnswer(error).body.error;
      await waiting.fail(responseId, JSON.stringify({ code, message: problem, details }));
      if (code === "INTERNAL") throw error;
    } finally {
      starting.delete(responseId);
    }
  };

  const claimAll = async (): Promise<void> => {
    for (;;) {
      const message = isClosed ? undefined : await waiting.claim(maxRunning, [...starting]);
      if (!message) return;
      beginMessage(message).catch(onFailure);
    }
  };

  const look = async (): Promise<void> => {
    mustLookAgain = isLooking;
    if (isLooking || isClosed) return;
    isLooking = true;
    try {
      do {
        mustLookAgain = false;
        await claimAll();
      } while (mustLookAgain as boolean);
    } finally {
      isLooking = false;
    }
  };
  const wake = (): void => void look().catch(onFailure);
  const timer = setInterval(wake, LOOK_MS);
  timer.unref();
  const endWatch = waiting.watch(wake);
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
