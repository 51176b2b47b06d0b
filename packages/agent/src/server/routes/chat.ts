/** `POST /v1/chat`: one message, answered as one JSON object or as a stream. */
import type { ChatRequest } from "@sheaf/protocol";
import type { Hono } from "hono";
import { chatRequest } from "@sheaf/protocol/schemas";
import { answerRequest } from "../answer-request.ts";
import { readForm } from "../open-stream.ts";
import { readJsonBody, type LargeBody } from "../json-body.ts";
import { readResponse } from "../log-reader.ts";
import type { ServerContext, ServerEnvironment } from "../server-context.ts";

/** The attachments of a message have a limit of their own (N65, S-55): 10 MiB, as base64. */
const largeBody: LargeBody<ChatRequest> = {
  largest: 15 * 1024 * 1024,
  measureFree: ({ attachments = [] }) => attachments.reduce((sum, { data }) => sum + data.length, 0),
};

export function addChatRoute(app: Hono<ServerEnvironment>, context: ServerContext): void {
  app.post("/v1/chat", async (request) => {
    const body = await readJsonBody(request.req, chatRequest, largeBody);
    const form = readForm(request);
    const streams = body.stream ?? /\btext\/event-stream\b/i.test(request.req.header("accept") ?? "");
    return answerRequest(request, context, {
      body: { ...body, stream: streams },
      asked: body,
      form,
      answerWhole: async (responseId, store, headers) =>
        request.json(await readResponse(store, responseId, context.settings.wire), 200, headers),
    });
  });
}
