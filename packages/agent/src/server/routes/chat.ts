/** `POST /v1/chat`: one message, answered as one JSON object or as a stream. */
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Hono } from "hono";
import { SheafError } from "../../errors.ts";
import type { RunningResponse } from "../../conversations/response-runner.ts";
import { chatRequestSchema } from "../../output/schemas/api-request-schemas.ts";
import { openStream } from "../open-stream.ts";
import { followResponse } from "../follow-response.ts";
import { readJsonBody } from "../json-body.ts";
import { readResponse } from "../log-reader.ts";
import { toFormHeaders } from "../reader-view.ts";
import { readForm } from "../stream-query.ts";
import type { ServerContext, ServerEnvironment } from "../server-context.ts";
import { toRequestKey, type ResponseIds } from "../request-keys.ts";
import { startResponse } from "../start-response.ts";
import { waitForEnd } from "../wait-for-end.ts";
import { watchClient } from "../watch-client.ts";

export function addChatRoute(app: Hono<ServerEnvironment>, context: ServerContext): void {
  app.post("/v1/chat", async (request) => {
    const body = await readJsonBody(request.req, chatRequestSchema);
    const owner = request.get("owner");
    const client = watchClient(request);
    const store = context.storeOf(owner);
    const key = toRequestKey(request.req.header("idempotency-key"), body);
    const start = (): Promise<RunningResponse> =>
      startResponse(body, owner, context, { request: key, startSignal: client });
    const ids = key ? await context.requestKeys.startOnce(store, owner, key, start) : await start();
    const { responseId } = ids;
    const running = context.runner.find(responseId);
    if (body.onDisconnect === "cancel" && running) cancelWith(client, running);
    const headers = toResponseHeaders(ids);
    const ports = { store, live: context.live, wire: context.settings.wire };
    const form = readForm(request);
    const streams = body.stream ?? /\btext\/event-stream\b/i.test(request.req.header("accept") ?? "");
    if (streams) {
      const sink = openStream(request, context, { ...headers, ...toFormHeaders(form) });
      const includesReasoning = body.accept?.reasoning ?? false;
      await followResponse(sink, { responseId, after: 0, snapshot: false, includesReasoning, form }, ports);
      return RESPONSE_ALREADY_SENT;
    }
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
  const cancel = (): void => response.abort(new SheafError("CANCELLED", "the client went away", { source: "user" }));
  if (client.aborted) cancel();
  else client.addEventListener("abort", cancel, { once: true });
}
