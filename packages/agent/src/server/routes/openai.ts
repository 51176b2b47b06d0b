/** The agent for clients of OpenAI: `/v1/chat/completions` and the models (X20, X21, N71). */
import type { Hono } from "hono";
import { createOpenAiCompletion } from "../../output/openai-chat.ts";
import { answerRequest } from "../answer-request.ts";
import { HttpError } from "../http-error.ts";
import { readJsonBody } from "../json-body.ts";
import { createLogReader } from "../log-reader.ts";
import { largeCompletion, openAiRequest, toMessage } from "../openai-request.ts";
import type { ServerContext, ServerEnvironment } from "../server-context.ts";

export const completionsPath = "/v1/chat/completions";

export function addOpenAiRoutes(app: Hono<ServerEnvironment>, context: ServerContext): void {
  app.post(completionsPath, async (request) => {
    const asked = await readJsonBody(request.req, openAiRequest, largeCompletion);
    const order = toMessage(asked);
    return answerRequest(request, context, {
      ...order,
      asked,
      form: "openai-chat",
      includesUsage: asked.stream_options?.include_usage ?? false,
      async answerWhole(responseId, store, headers) {
        const reader = createLogReader(store, responseId);
        const answer = createOpenAiCompletion(order.body.accept?.reasoning ?? false);
        for (let page = await reader.read(); page; page = await reader.read()) {
          for (const event of page) answer.push(event);
        }
        if (!answer.failure) return request.json(answer.completion, 200, headers);
        const { status, error } = answer.failure;
        // Its tools have run; a client of OpenAI would send the message again by itself.
        return Response.json({ error }, { status, headers: { ...headers, "x-should-retry": "false" } });
      },
    });
  });

  const models = context.models.names.map((id) => ({ id, object: "model", created: 0, owned_by: toOwner(id) }));
  app.get("/v1/models", (request) =>
    request.json({ object: "list", data: models, models: models.map(({ id }) => ({ id })) }),
  );
  app.get("/v1/models/:id", (request) => {
    const model = models.find(({ id }) => id === request.req.param("id"));
    if (model) return request.json(model);
    throw new HttpError("NOT_FOUND", "the model is not offered here: see /v1/models");
  });
}

/** `anthropic` of `anthropic/claude-sonnet-4-5`. */
function toOwner(id: string): string {
  return id.includes("/") ? id.slice(0, id.indexOf("/")) : "sheaf";
}
