/** Responses that wait in the store for another one of their conversation (`whenBusy: "queue"`, R-38). */
import { setTimeout as sleep } from "node:timers/promises";
import { createReducer, type ChatResponse, type RunStart } from "@sheaf/protocol";
import { isErrorCode, SheafError } from "@sheaf/base/errors";
import type { SharedStore } from "@sheaf/store/store";
import { askPatiently } from "./ask-patiently.ts";
import type { StoredRequest } from "./claim-messages.ts";
import type { ResponseIds } from "./request-keys.ts";
import { createWireAssembler, type WireOptions } from "./response-channel.ts";

/** The longest pause between two looks of a reader at its message. Milliseconds. */
const LOOK_MS = 2000;

/** A response that has its ids, and no log. */
export interface QueuedResponse extends ResponseIds {
  /** The first event of its log. */
  readonly start: Omit<RunStart, "type">;
}

/** Undefined: it doesn't wait, or it belongs to somebody else (S-53). */
export async function findQueued(store: SharedStore, responseId: string): Promise<QueuedResponse | undefined> {
  const message = await store.waiting.find(responseId);
  if (!message || message.failure !== null) return undefined;
  const { conversationId, text } = message;
  return { responseId, conversationId, start: (JSON.parse(text) as StoredRequest).start };
}

/**
 * Resolves once the response has begun, in any process. While the store can't be asked, nobody knows, so this waits.
 * @throws SheafError when the response can't begin, or was cancelled; the signal's reason when it is aborted before.
 */
export async function waitForBegin(store: SharedStore, responseId: string, signal: AbortSignal): Promise<void> {
  const { waiting } = store;
  let change = new AbortController();
  const wake = (): void => change.abort();
  const endWatches = [store.watchResponse(responseId, wake), waiting.watch(wake)];
  signal.addEventListener("abort", wake);
  try {
    for (;;) {
      const message = await askPatiently(() => waiting.findFailure(responseId), signal);
      if (typeof message?.failure === "string") throw toFailure(message.failure);
      if (!message) {
        if (await askPatiently(() => store.getResponse(responseId), signal)) return;
        throw new SheafError("CANCELLED", "cancelled by the user", { source: "user" });
      }
      await sleep(LOOK_MS, undefined, { signal: change.signal }).catch(() => undefined);
      signal.throwIfAborted();
      change = new AbortController();
    }
  } finally {
    signal.removeEventListener("abort", wake);
    for (const endWatch of endWatches) endWatch();
  }
}

function toFailure(failure: string): SheafError {
  const { code, message, details } = JSON.parse(failure) as { code: string; message: string; details: string };
  return new SheafError(isErrorCode(code) ? code : "USAGE", message, { source: "server", details });
}

/** The response before its first event, so that a client can attach to it (N3). `time` in milliseconds since 1970. */
export function toQueuedSnapshot({ start }: QueuedResponse, wire: WireOptions, time: number): ChatResponse {
  const reducer = createReducer();
  const events = createWireAssembler(wire).push({ type: "run_start", ...start, seq: 1, time });
  for (const event of events) reducer.push(event);
  const { response } = reducer;
  return { ...response, metadata: { ...response.metadata, lastEventId: 0 } };
}
