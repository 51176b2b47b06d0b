/** Responses that wait in the store for another one of their conversation (`whenBusy: "queue"`, R-38). */
import { setTimeout as sleep } from "node:timers/promises";
import {
  createReducer,
  type ChatRequest,
  type ChatResponse,
  type RunStart,
  type WaitingMessage,
} from "@sheaf/protocol";
import { maskValue } from "@sheaf/agent/output/event-mask";
import { toAttachmentSummary } from "@sheaf/base/files/attachment";
import { isErrorCode, SheafError } from "@sheaf/base/errors";
import type { ClaimedMessage } from "@sheaf/store/cluster";
import { toToldKey } from "@sheaf/store/sql-waiting";
import type { SharedStore } from "@sheaf/store/store";
import { askPatiently } from "./ask-patiently.ts";
import type { StoredRequest } from "./claim-messages.ts";
import { HttpError } from "./http-error.ts";
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

/** The response that a message reached in place of starting one (C242). */
export async function findTold(store: SharedStore, messageId: string): Promise<string | undefined> {
  return (await store.findRequest(toToldKey(messageId)))?.responseId;
}

/** The messages that wait for a conversation, in their order (C241). */
export async function listWaiting(
  store: SharedStore,
  conversationId: string,
  mask: WireOptions["mask"],
): Promise<readonly WaitingMessage[]> {
  return (await store.waiting.list(conversationId)).map(({ responseId, text, steers }) => {
    const { message, attachments } = maskValue(toAddedMessage({ responseId, text }), mask);
    const files = attachments && { attachments: attachments.map(toAttachmentSummary) };
    return { responseId, message, ...files, whenBusy: steers ? "steer" : "queue" };
  });
}

/** @throws HttpError USAGE for a message that only a new response can answer (C242). */
export function checkSteering({
  answers = [],
  parentResponseId,
}: Pick<ChatRequest, "answers" | "parentResponseId">): void {
  if (answers.length === 0 && parentResponseId === undefined) return;
  const fields = "answers and parentResponseId";
  throw new HttpError("USAGE", `${fields} start a new response: send "whenBusy": "queue" with them`);
}

/** A message that waited, as an event of the response that it reached. */
export function toAddedMessage({ responseId, text }: Pick<ClaimedMessage, "responseId" | "text">) {
  const { prompt, attachments } = (JSON.parse(text) as StoredRequest).start;
  return { messageId: responseId, message: prompt, ...(attachments && { attachments }) };
}

/**
 * Resolves once the response has begun, in any process, or the message has reached another one, with its id. While the store can't be asked, nobody knows, so this waits.
 * @throws SheafError when the response can't begin, or was cancelled; the signal's reason when it is aborted before.
 */
export async function waitForBegin(store: SharedStore, responseId: string, signal: AbortSignal): Promise<string> {
  const { waiting } = store;
  let change = new AbortController();
  const wake = (): void => change.abort();
  const endWatches = [store.watchResponse(responseId, wake), waiting.watch(wake, responseId)];
  signal.addEventListener("abort", wake);
  try {
    for (;;) {
      const message = await askPatiently(() => waiting.findFailure(responseId), signal);
      if (typeof message?.failure === "string") throw toFailure(message.failure);
      if (!message) {
        if (await askPatiently(() => store.getResponse(responseId), signal)) return responseId;
        const told = await askPatiently(() => findTold(store, responseId), signal);
        if (told !== undefined) return told;
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
