/** Answers every route that takes a message: starts the response, then sends it as a stream or as a whole. */
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { ChatRequest } from "@sheaf/protocol";
import type { Context } from "hono";
import type { PastTurn } from "@sheaf/agent/run/conversations/past-turns";
import type { UiQuestions } from "@sheaf/agent/output/ai-sdk-ui";
import type { RunningResponse } from "@sheaf/agent/run/conversations/response-runner";
import type { SharedStore } from "@sheaf/store/store";
import { askPatiently } from "./ask-patiently.ts";
import { awaitStart, createLeftError, waitForEnd, watchClient } from "./await-start.ts";
import { findQueued, waitForBegin, type QueuedResponse } from "./queued-responses.ts";
import { followResponse, type FollowOptions } from "./follow-response.ts";
import { reserveStream } from "./open-stream.ts";
import { createReaderView, toFormHeaders, type WireForm } from "./reader-view.ts";
import { toRequestKey, type AcceptedResponse, type ResponseIds } from "./request-keys.ts";
import type { ServerContext, ServerEnvironment } from "./server-context.ts";
import { startResponse } from "./start-response.ts";

/** A message, and the form of its answer. */
interface MessageRequest {
  readonly body: ChatRequest;
  /** The request as the client sent it, by which the server recognizes a repeated request (X9). */
  readonly asked: unknown;
  /** The turns that a new conversation starts with. */
  readonly past?: readonly PastTurn[];
  /** The id of a new conversation; default: a random id. */
  readonly newConversationId?: string;
  /** The wire form of the stream. */
  readonly form: WireForm;
  readonly includesUsage?: boolean;
  readonly questions?: UiQuestions;
  /** The answer that is not a stream, once the response has ended. Undefined: every answer is a stream. */
  readonly answerWhole?: (
    responseId: string,
    store: SharedStore,
    headers: Readonly<Record<string, string>>,
  ) => Promise<Response>;
}

/** @throws HttpError, SheafError if the response can't start. */
export async function answerRequest(
  request: Context<ServerEnvironment>,
  context: ServerContext,
  { body, asked, past, newConversationId, form, includesUsage, questions, answerWhole }: MessageRequest,
): Promise<Response> {
  const owner = request.get("owner");
  const client = watchClient(request);
  const starting = new AbortController();
  const giveUp = (): void => starting.abort(createLeftError());
  if (client.aborted) giveUp();
  else client.addEventListener("abort", giveUp);
  const store = context.storeOf(owner);
  const key = toRequestKey(request.req.header("idempotency-key"), asked);
  const start = (): Promise<AcceptedResponse> =>
    startResponse(body, owner, context, { request: key, starting, past, newConversationId });
  // A response must not run if its client can't get a stream.
  const stream = body.stream || !answerWhole ? reserveStream(request, context) : undefined;
  const begin = async (): Promise<readonly [ids: ResponseIds, queued: QueuedResponse | undefined]> => {
    const ids = await (key ? context.requestKeys.startOnce(store, owner, key, start) : start());
    return [ids, "isNew" in ids ? ids.queued : await findQueued(store, ids.responseId)];
  };
  const [ids, queued] = await begin().catch((error) => {
    stream?.giveUp();
    throw error;
  });
  const { responseId } = ids;
  const cancelWithClient = (): void => {
    if (body.onDisconnect !== "cancel") return;
    // Another server may have started the response that waited here.
    const abort = (): void => void store.requestCancel(responseId).catch(context.onDefect);
    cancelWith(client, context.runner.find(responseId) ?? { abort });
  };
  const headers = toResponseHeaders(ids);
  const ports = { store, live: context.live, tails: context.tails, wire: context.settings.wire };
  if (stream) {
    const sink = stream.open({ ...headers, ...toFormHeaders(form) });
    const includesReasoning = body.accept?.reasoning ?? false;
    const options = { responseId, after: 0, snapshot: false, includesReasoning, includesUsage, questions, form };
    // The client now has the address of the response, and can reconnect (X7).
    if (body.onDisconnect !== "cancel") client.removeEventListener("abort", giveUp);
    const view = createReaderView(options, ports.wire);
    const begun = queued ? await awaitStart(queued, { store, sink, view, ...context }) : responseId;
    cancelWithClient();
    if (begun !== undefined) await followResponse(sink, toBegun(options, begun), ports);
    return RESPONSE_ALREADY_SENT;
  }
  // The response may already run when its client leaves.
  const begun = queued ? await waitForBegin(store, responseId, client).finally(cancelWithClient) : responseId;
  if (!queued) cancelWithClient();
  await waitForEnd(begun, store, context, client);
  return askPatiently(() => answerWhole!(begun, store, headers), client);
}

/** Makes a reader follow the response that its message joined, starting with that response's state (C242). */
export function toBegun(options: FollowOptions, begun: string): FollowOptions {
  return begun === options.responseId ? options : { ...options, responseId: begun, snapshot: true };
}

/** Headers that give base clients the ids, and the address of the response (N49, X2). */
export function toResponseHeaders(response: ResponseIds): Record<string, string> {
  return {
    Location: `/v1/responses/${response.responseId}`,
    "X-Response-Id": response.responseId,
    "X-Conversation-Id": response.conversationId,
  };
}

/** Cancels the response when its client leaves, which only some requests ask for (X7). */
export function cancelWith(client: AbortSignal, response: Pick<RunningResponse, "abort">): void {
  const cancel = (): void => response.abort(createLeftError());
  if (client.aborted) cancel();
  else client.addEventListener("abort", cancel, { once: true });
}
