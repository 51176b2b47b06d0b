/** `POST /v1/chat`: one message, answered as one JSON object or as a stream. */
import type { ChatRequest } from "@sheaf/protocol";
import type { Context, Hono } from "hono";
import { chatRequest } from "@sheaf/protocol/schemas";
import { answerRequest } from "../answer-request.ts";
import { readForm } from "../open-stream.ts";
import { largestWithFiles, readJsonBody, type LargeBody } from "../json-body.ts";
import { readResponse } from "../log-reader.ts";
import type { ServerContext, ServerEnvironment } from "../server-context.ts";

/** The attachments of a message have their own limit (S-55). */
const largeBody: LargeBody<ChatRequest> = {
  largest: largestWithFiles,
  measureFree: ({ attachments = [] }) =>
    attachments.reduce((sum, attachment) => sum + ("data" in attachment ? attachment.data.length : 0), 0),
};

export function addChatRoute(app: Hono<ServerEnvironment>, context: ServerContext): void {
  const answer = async (request: Context<ServerEnvironment>, alwaysStreams: boolean): Promise<Response> => {
    const body = await readJsonBody(request.req, chatRequest, largeBody);
    const form = readForm(request);
    const accepts = request.req.header("accept") ?? "";
    const streams = alwaysStreams || (body.stream ?? /\btext\/event-stream\b/i.test(accepts));
    return answerRequest(request, context, {
      body: { ...body, stream: streams },
      asked: body,
      form,
      answerWhole: async (responseId, store, headers) =>
        request.json(await readResponse(store, responseId, context.settings.wire), 200, headers),
    });
  };
  app.post("/v1/chat", (request) => answer(request, false));
  app.post("/v1/chat/stream", (request) => answer(request, true));
}
