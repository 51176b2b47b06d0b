/** What every route does that takes a message: starts its response, and answers with a stream or with the whole. */
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
  /** What the client sent: by this a request that comes again is known (X9). */
  readonly asked: unknown;
  /** What a new conversation begins with. */
  readonly past?: readonly PastTurn[];
  /** What a new conversation is called; default: a random id. */
  readonly newConversationId?: string;
  /** Of a stream. */
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

/** @throws HttpError, SheafError when the response cannot begin. */
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
  // What cannot be read must not run.
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
    // What waited may run at another server.
    const abort = (): void => void store.requestCancel(responseId).catch(context.onDefect);
    cancelWith(client, context.runner.find(responseId) ?? { abort });
  };
  const headers = toResponseHeaders(ids);
  const ports = { store, live: context.live, tails: context.tails, wire: context.settings.wire };
  if (stream) {
    const sink = stream.open({ ...headers, ...toFormHeaders(form) });
    const includesReasoning = body.accept?.reasoning ?? false;
    const options = { responseId, after: 0, snapshot: false, includesReasoning, includesUsage, questions, form };
    // The client has the address of the response now, and can come back (X7).
    if (body.onDisconnect !== "cancel") client.removeEventListener("abort", giveUp);
    const view = createReaderView(options, ports.wire);
    const begun = queued ? await awaitStart(queued, { store, sink, view, ...context }) : responseId;
    cancelWithClient();
    if (begun !== undefined) await followResponse(sink, toBegun(options, begun), ports);
    return RESPONSE_ALREADY_SENT;
  }
  // A response may have begun when its client leaves.
  const begun = queued ? await waitForBegin(store, responseId, client).finally(cancelWithClient) : responseId;
  if (!queued) cancelWithClient();
  await waitForEnd(begun, store, context, client);
  return askPatiently(() => answerWhole!(begun, store, headers), client);
}

/** The reader of a message that reached a response gets that one: its state first, since it began before (C242). */
export function toBegun(options: FollowOptions, begun: string): FollowOptions {
  return begun === options.responseId ? options : { ...options, responseId: begun, snapshot: true };
}

/** Tells base clients the ids, and where the response is (N49, X2). */
export function toResponseHeaders(response: ResponseIds): Record<string, string> {
  return {
    Location: `/v1/responses/${response.responseId}`,
    "X-Response-Id": response.responseId,
    "X-Conversation-Id": response.conversationId,
  };
}

/** X7: only when the request says so. */
export function cancelWith(client: AbortSignal, response: Pick<RunningResponse, "abort">): void {
  const cancel = (): void => response.abort(createLeftError());
  if (client.aborted) cancel();
  else client.addEventListener("abort", cancel, { once: true });
}
