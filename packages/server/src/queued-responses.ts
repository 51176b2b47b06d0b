/** Responses that wait in the store until their conversation is free (`whenBusy: "queue"`, R-38). */
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

/** Longest pause between two looks at a waiting message. Milliseconds. */
const LOOK_MS = 2000;

/** A response that has ids, but no log. */
export interface QueuedResponse extends ResponseIds {
  /** The first event of its log. */
  readonly start: Omit<RunStart, "type">;
}

/** Returns undefined if the response doesn't wait, or belongs to another owner (S-53). */
export async function findQueued(store: SharedStore, responseId: string): Promise<QueuedResponse | undefined> {
  const message = await store.waiting.find(responseId);
  if (!message || message.failure !== null) return undefined;
  const { conversationId, text } = message;
  return { responseId, conversationId, start: (JSON.parse(text) as StoredRequest).start };
}

/** Returns the id of the running response that a message joined (C242). */
export async function findTold(store: SharedStore, messageId: string): Promise<string | undefined> {
  return (await store.findRequest(toToldKey(messageId)))?.responseId;
}

/** Lists the messages that wait for a conversation, in their order (C241). */
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

/** Turns a message that waited into an event of the response that it joined. */
export function toAddedMessage({ responseId, text }: Pick<ClaimedMessage, "responseId" | "text">) {
  const { prompt, attachments } = (JSON.parse(text) as StoredRequest).start;
  return { messageId: responseId, message: prompt, ...(attachments && { attachments }) };
}

/**
 * Resolves with the id of the started response, or of the response that the message joined. Tries until the store
 * answers.
 * @throws SheafError if it can't start, or was cancelled; the signal's reason if it aborts first.
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

/** The response before its first event, which clients can follow (N3). `time` in milliseconds since 1970. */
export function toQueuedSnapshot({ start }: QueuedResponse, wire: WireOptions, time: number): ChatResponse {
  const reducer = createReducer();
  const events = createWireAssembler(wire).push({ type: "run_start", ...start, seq: 1, time });
  for (const event of events) reducer.push(event);
  const { response } = reducer;
  return { ...response, metadata: { ...response.metadata, lastEventId: 0 } };
}
