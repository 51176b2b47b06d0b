/** The agent for clients of OpenAI: chat completions, Responses and the models (X20, X21, N71, N72). */
import type { RunEvent } from "@sheaf/protocol";
import type { Hono } from "hono";
import { createEventMask, type EventMask } from "@sheaf/agent/output/event-mask";
import { createOpenAiCompletion, type OpenAiFailure } from "@sheaf/agent/output/openai-chat";
import { createOpenAiResponse } from "@sheaf/agent/output/openai-responses";
import type { PastTurn } from "@sheaf/agent/run/conversations/past-turns";
import { type ResponseRecord, type Store } from "@sheaf/store/store";
import { answerRequest } from "../answer-request.ts";
import { HttpError } from "../http-error.ts";
import { maxBody, readJsonBody } from "../json-body.ts";
import { createLogReader } from "../log-reader.ts";
import {
  createFieldError,
  type InputItem,
  largeCompletion,
  largeResponse,
  type OpenAiInput,
  openAiRequest,
  responsesRequest,
  toMessage,
} from "../openai-request.ts";
import type { ServerContext, ServerEnvironment } from "../server-context.ts";

export const completionsPath = "/v1/chat/completions";
export const responsesPath = "/v1/responses";

const previousField = "previous_response_id";

export function addOpenAiRoutes(app: Hono<ServerEnvironment>, context: ServerContext): void {
  app.post(completionsPath, async (request) => {
    const asked = await readJsonBody(request.req, openAiRequest, largeCompletion);
    const { messages, stream = false, stream_options: options, reasoning_effort: openAiEffort, ...settings } = asked;
    const message = toMessage(messages, { ...settings, stream, openAiEffort, field: "messages" });
    return answerRequest(request, context, {
      ...message,
      asked,
      form: "openai-chat",
      includesUsage: options?.include_usage ?? false,
      async answerWhole(responseId, store, headers) {
        const answer = createOpenAiCompletion(message.body.accept?.reasoning ?? false);
        await readLog(store, responseId, answer, createEventMask({ mask: context.settings.wire.mask }));
        return toAnswer(answer.failure, answer.completion, headers);
      },
    });
  });

  app.post(responsesPath, async (request) => {
    const asked = await readJsonBody(request.req, responsesRequest, largeResponse);
    const { input, instructions = "", previous_response_id: previous, stream = false, reasoning, ...rest } = asked;
    const store = context.storeOf(request.get("owner"));
    const { text: _text, appendSystemPrompt = "", ...settings } = rest;
    const message = toMessage(await resolveItems(input, store), {
      ...settings,
      appendSystemPrompt: `${instructions}\n\n${appendSystemPrompt}`.trim(),
      stream,
      openAiEffort: reasoning?.effort,
      field: "input",
    });
    const last = previous === undefined ? undefined : await findPrevious(previous, message.past, store);
    return answerRequest(request, context, {
      body: { ...message.body, ...(last && { conversationId: last.conversationId, parentResponseId: last.id }) },
      past: message.past,
      asked,
      form: "openai-responses",
      async answerWhole(responseId, _store, headers) {
        const answer = createOpenAiResponse();
        await readLog(store, responseId, answer, createEventMask({ mask: context.settings.wire.mask }));
        return toAnswer(answer.failure, answer.response, headers);
      },
    });
  });

  const models = context.models.names.map((id) => ({ id, object: "model", created: 0, owned_by: toOwner(id) }));
  app.get("/v1/models", (request) =>
    request.json({
      object: "list",
      data: models,
      // JSON leaves out undefined fields.
      models: models.map(({ id }) => ({ id, contextTokens: context.models.findWindow(id) })),
    }),
  );
  app.get("/v1/models/:id{.+}", (request) => {
    const model = models.find(({ id }) => id === request.req.param("id"));
    if (model) return request.json(model);
    throw new HttpError("NOT_FOUND", "the model is not offered here: see /v1/models");
  });
}

/** Returns the owner in OpenAI's sense: `anthropic` for `anthropic/claude-sonnet-4-5`. */
function toOwner(id: string): string {
  return id.includes("/") ? id.slice(0, id.indexOf("/")) : "sheaf";
}

function toAnswer(
  failure: OpenAiFailure | undefined,
  answer: object,
  headers: Readonly<Record<string, string>>,
): Response {
  if (!failure) return Response.json(answer, { headers });
  const { status, error } = failure;
  // The tools have run already, and a client of OpenAI would repeat the message by itself.
  return Response.json({ error }, { status, headers: { ...headers, "x-should-retry": "false" } });
}

async function readLog(
  store: Store,
  responseId: string,
  answer: { push(event: RunEvent): unknown },
  mask: EventMask,
): Promise<void> {
  const reader = createLogReader(store, responseId);
  for (let page = await reader.read(); page; page = await reader.read()) {
    for (const event of page.flatMap(mask)) answer.push(event);
  }
}

/** The unmasked text of an answer, for the next request to the model. */
async function readAnswerText(store: Store, responseId: string): Promise<string> {
  const answer = createOpenAiResponse();
  await readLog(store, responseId, answer, (event) => [event]);
  return answer.text;
}

/** Adds the text of the agent's messages that the client references. @throws HttpError USAGE, PAYLOAD_TOO_LARGE. */
async function resolveItems(input: string | readonly InputItem[], store: Store): Promise<readonly OpenAiInput[]> {
  if (typeof input === "string") return [{ role: "user", content: input }];
  const messages: OpenAiInput[] = [];
  const known = new Map<string, string>();
  let length = 0;
  for (const [index, { type = "message", role, content = "", id = "" }] of input.entries()) {
    if (type === "reasoning") messages.push({ role: "system", content: "" });
    else if (type === "message") {
      if (role === undefined) throw createFieldError(`input.${index}.role`, "is missing");
      messages.push({ role, content });
    } else {
      const text = known.get(id) ?? (await readAnswerText(store, id.replace(/^msg_/, "chat_")));
      known.set(id, text);
      length += text.length;
      if (length > maxBody) {
        throw new HttpError("PAYLOAD_TOO_LARGE", `the messages that input names are longer than ${maxBody} characters`);
      }
      if (text === "") throw createFieldError(`input.${index}.id`, "no message has this id: send its text");
      messages.push({ role: "assistant", content: text });
    }
  }
  return messages;
}

/** Finds an earlier answer, whose conversation continues. @throws HttpError USAGE. */
async function findPrevious(previous: string, past: readonly PastTurn[], store: Store): Promise<ResponseRecord> {
  const record = await store.getResponse(previous.replace(/^resp_/, "chat_"));
  if (!record) throw createFieldError(previousField, "no response has this id: check it");
  if (past.length === 0) return record;
  throw createFieldError("input", `${previousField} has what was said before: send new messages only`);
}
