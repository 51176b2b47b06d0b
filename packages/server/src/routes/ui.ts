/** The agent for `useChat` of the AI SDK (X22, X23). */
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { RunEvent } from "@sheaf/protocol";
import type { Context, Hono } from "hono";
import { findNewestResponse, type SharedStore } from "@sheaf/store/store";
import { answerRequest, cancelWith, toResponseHeaders } from "../answer-request.ts";
import { watchClient } from "../await-start.ts";
import { followResponse } from "../follow-response.ts";
import { createNotFoundError } from "../http-error.ts";
import { readJsonBody } from "../json-body.ts";
import { isSet, reserveStream } from "../open-stream.ts";
import { toFormHeaders } from "../reader-view.ts";
import type { ServerContext, ServerEnvironment } from "../server-context.ts";
import { largeUiRequest, toChatConversation, toDecisions, toUserMessage, uiRequest } from "../ui-request.ts";
import { toPersonName } from "./responses.ts";

export const uiPath = "/v1/ui/chat";

const form = "ai-sdk-ui";

export function addUiRoutes(app: Hono<ServerEnvironment>, context: ServerContext): void {
  app.post(uiPath, async (request) => {
    const asked = await readJsonBody(request.req, uiRequest, largeUiRequest);
    const { id, messages, trigger, messageId, ...settings } = asked;
    const owner = request.get("owner");
    const store = context.storeOf(owner);
    const conversationId = toChatConversation(owner, id);
    const accept = { reasoning: true, ...settings.accept };
    const { onDisconnect = "cancel" } = settings;
    const last = messages.at(-1)!;
    if (last.role === "assistant") {
      const events = await readChatEvents(store, conversationId, last.id);
      const decisions = toDecisions(last, events, toPersonName(owner));
      for (const [approvalId, answer] of decisions)
        await context.approvals.answer(store, last.id, { approvalId, answer });
      const running = context.runner.find(last.id);
      if (running && onDisconnect === "cancel") cancelWith(watchClient(request), running);
      const seen = new Set(decisions.keys());
      return sendStream(request, context, { responseId: last.id, conversationId, events, seen, ...accept });
    }
    const message = toUserMessage(last);
    const conversation = await store.getConversation(conversationId);
    const isReplaced = conversation && (trigger === "regenerate-message" || messageId !== undefined);
    const kept = messages.findLast(({ role }) => role === "assistant")?.id ?? null;
    const place = conversation || conversationId === id ? { conversationId } : {};
    return answerRequest(request, context, {
      body: {
        whenBusy: "cancel",
        ...settings,
        ...message,
        ...place,
        ...(isReplaced && { parentResponseId: kept }),
        accept,
        onDisconnect,
      },
      asked,
      newConversationId: conversationId,
      form,
      ...(settings.approvals === "ask" && { questions: { seen: new Set(), resolved: new Set() } }),
    });
  });

  app.get(`${uiPath}/:id/stream`, async (request) => {
    const owner = request.get("owner");
    const store = context.storeOf(owner);
    const conversationId = toChatConversation(owner, request.req.param("id"));
    const last = await findNewestResponse(store, conversationId);
    if (!last || last.ended) return request.body(null, 204);
    const events = await store.readEvents(last.id);
    const reasoning = isSet(request.req.query("reasoning") ?? "1");
    return sendStream(request, context, { responseId: last.id, conversationId, events, seen: new Set(), reasoning });
  });
}

/** Reads the log of one of the chat's responses. @throws HttpError NOT_FOUND. */
async function readChatEvents(
  store: SharedStore,
  conversationId: string,
  responseId: string,
): Promise<readonly RunEvent[]> {
  const record = await store.getResponse(responseId);
  if (record?.conversationId !== conversationId) throw createNotFoundError("response", responseId);
  return store.readEvents(responseId);
}

interface UiStream {
  readonly responseId: string;
  readonly conversationId: string;
  /** The log so far. */
  readonly events: readonly RunEvent[];
  /** Questions that the client has answered: the stream starts after them. */
  readonly seen: ReadonlySet<string>;
  readonly reasoning: boolean;
}

/** Streams a started response until its end or its next question. */
async function sendStream(
  request: Context<ServerEnvironment>,
  context: ServerContext,
  { responseId, conversationId, events, seen, reasoning }: UiStream,
): Promise<Response> {
  const store = context.storeOf(request.get("owner"));
  const headers = { ...toResponseHeaders({ responseId, conversationId }), ...toFormHeaders(form) };
  const sink = reserveStream(request, context).open(headers);
  const resolved = new Set(events.flatMap((event) => (event.type === "approval_resolved" ? [event.approvalId] : [])));
  const options = {
    responseId,
    after: 0,
    snapshot: false,
    includesReasoning: reasoning,
    form,
    questions: { seen, resolved },
  } as const;
  await followResponse(sink, options, { ...context, store, wire: context.settings.wire });
  return RESPONSE_ALREADY_SENT;
}
