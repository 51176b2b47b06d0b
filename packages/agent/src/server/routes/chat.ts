/** `POST /v1/chat`: one message, answered as one JSON object or as a stream. */
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { ChatRequest } from "@sheaf/protocol";
import type { Hono } from "hono";
import { SheafError } from "../../base/errors.ts";
import type { RunningResponse } from "../../run/conversations/response-runner.ts";
import { chatRequest } from "@sheaf/protocol/schemas";
import { awaitStart, waitForEnd, watchClient } from "../await-start.ts";
import { readForm, reserveStream } from "../open-stream.ts";
import { followResponse } from "../follow-response.ts";
import { readJsonBody, type LargeBody } from "../json-body.ts";
import { readResponse } from "../log-reader.ts";
import { createReaderView, toFormHeaders } from "../reader-view.ts";
import type { ServerContext, ServerEnvironment } from "../server-context.ts";
import { toRequestKey, type AcceptedResponse, type ResponseIds } from "../request-keys.ts";
import { startResponse } from "../start-response.ts";

/** The attachments of a message have a limit of their own (N65, S-55): 10 MiB, as base64. */
const largeBody: LargeBody<ChatRequest> = {
  largest: 15 * 1024 * 1024,
  measureFree: ({ attachments = [] }) => attachments.reduce((sum, { data }) => sum + data.length, 0),
};

export function addChatRoute(app: Hono<ServerEnvironment>, context: ServerContext): void {
  app.post("/v1/chat", async (request) => {
    const body = await readJsonBody(request.req, chatRequest, largeBody);
    const owner = request.get("owner");
    const form = readForm(request);
    const streams = body.stream ?? /\btext\/event-stream\b/i.test(request.req.header("accept") ?? "");
    const client = watchClient(request);
    const starting = new AbortController();
    const giveUp = (): void => starting.abort(createLeftError());
    if (client.aborted) giveUp();
    else client.addEventListener("abort", giveUp);
    const store = context.storeOf(owner);
    const key = toRequestKey(request.req.header("idempotency-key"), body);
    const start = (): Promise<AcceptedResponse> => startResponse(body, owner, context, { request: key, starting });
    // What cannot be read must not run.
    const stream = streams ? reserveStream(request, context) : undefined;
    const ids = await (key ? context.requestKeys.startOnce(store, owner, key, start) : start()).catch((error) => {
      stream?.giveUp();
      throw error;
    });
    const { responseId } = ids;
    const queued = context.queued.find(owner, responseId);
    const cancelWithClient = (): void => {
      const running = context.runner.find(responseId);
      if (body.onDisconnect === "cancel" && running) cancelWith(client, running);
    };
    const headers = toResponseHeaders(ids);
    const ports = { store, live: context.live, wire: context.settings.wire };
    if (stream) {
      const sink = stream.open({ ...headers, ...toFormHeaders(form) });
      const includesReasoning = body.accept?.reasoning ?? false;
      const options = { responseId, after: 0, snapshot: false, includesReasoning, form };
      // The client has the address of the response now, and can come back (X7).
      if (body.onDisconnect !== "cancel") client.removeEventListener("abort", giveUp);
      const view = createReaderView(options, ports.wire);
      const hasBegun = !queued || (await awaitStart(queued, { sink, view, ...context }));
      cancelWithClient();
      if (hasBegun) await followResponse(sink, options, ports);
      return RESPONSE_ALREADY_SENT;
    }
    await queued?.begun;
    cancelWithClient();
    await waitForEnd(responseId, store, context.runner, client);
    return request.json(await readResponse(ports.store, responseId, ports.wire), 200, headers);
  });
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
function cancelWith(client: AbortSignal, response: RunningResponse): void {
  const cancel = (): void => response.abort(createLeftError());
  if (client.aborted) cancel();
  else client.addEventListener("abort", cancel, { once: true });
}

function createLeftError(): SheafError {
  return new SheafError("CANCELLED", "the client went away", { source: "user" });
}
