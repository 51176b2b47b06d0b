/** The response of the Chat API. Clauses: docs/formats/documents.md. */
import type { Document } from "./documents.ts";
import {
  approvalRequest,
  type ApprovalRequestData,
  type AddedMessage,
  addedMessage,
  hookReport,
  type HookReport,
  instant,
  mode,
  responseMetadata,
  type ResponseMetadata,
  usage,
  type Usage,
} from "./response-parts.ts";
import * as s from "./schema.ts";

const responseStatus = s.choice(["completed", "streaming", "error"]);

/** Status of a response. `completed`: the agent ended its turn itself (N2). */
export type ResponseStatus = s.ValueOf<typeof responseStatus>;

/** Makes the schema of a complete response with these documents. */
export function completeResponse<Item>(document: s.Schema<Item>) {
  return s.object({
    /** Unique id of the response: `chat_<id>`. */
    id: s.string({ pattern: "^chat_" }),
    /** Id of the conversation: `conv_<id>`. */
    conversationId: s.string({ pattern: "^conv_" }),
    /** Id of the model in requests to the provider (N7). */
    model: s.string(),
    mode,
    /** Start of the response, UTC, RFC 3339 with `Z` (N7). */
    created: instant,
    status: responseStatus,
    documents: s.list<Item>(document),
    usage: s.named<Usage>(usage),
    metadata: s.named<ResponseMetadata>(responseMetadata),
    /** Ext: runs of hooks that had an effect, in their order; absent without any (N106). */
    hooks: s.optional(s.list<HookReport>(hookReport)),
    /** Ext: messages that the user added while the response ran, in order; absent without any (C240). */
    messages: s.optional(s.list<AddedMessage>(addedMessage)),
  });
}

/** Makes the schema of a response at any moment (N3). */
export function responseSnapshot<Item>(document: s.Schema<Item>) {
  return s.extend(completeResponse(document), {
    /** Ext: open approvals; only while streaming, absent without any (X8). */
    approvals: s.optional(s.list<ApprovalRequestData>(approvalRequest)),
  });
}

/** One answer (R2). It's complete when `status` isn't `streaming` (N1). */
export interface ChatResponse extends s.ValueOf<ReturnType<typeof responseSnapshot<Document>>> {}

export const clarificationAnswer = s.object({
  documentId: s.string({ minLength: 1, maxLength: 200 }),
  questionId: s.string({ maxLength: 1000 }),
  optionIds: s.list(s.string({ maxLength: 1000 }), { maxItems: 100 }),
  text: s.string(),
});

/** Ext: an answer to a question of a clarification document (N42). */
export interface ClarificationAnswer extends s.ValueOf<typeof clarificationAnswer> {}

export const errorBody = s.object({
  error: s.object({
    errorCode: s.string({ pattern: "^[A-Z0-9_]+$" }),
    message: s.string(),
    source: s.string(),
    details: s.string(),
  }),
});

/** Body of every error before the first event (N52). */
export interface ErrorBody extends s.ValueOf<typeof errorBody> {}
