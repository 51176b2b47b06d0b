/** Events about a user's conversations. Clauses: section 7 of docs/formats/documents.md. */
import { conversationPage, conversationSummary, type ConversationPage, type ConversationSummary } from "./api.ts";
import { finishReason, type FinishReason } from "./response-parts.ts";
import * as s from "./schema.ts";

const conversationChangeKind = s.growingChoice([
  "response_started",
  "approval_waiting",
  "approval_decided",
  "question_waiting",
  "response_ended",
  "conversation_changed",
]);

export type ConversationChangeKind = s.ValueOf<typeof conversationChangeKind>;

const endedResponse = s.object({
  responseId: s.string(),
  status: s.choice(["completed", "error"]),
  finishReason: s.named<FinishReason>(finishReason),
});

const userEventData = {
  /** The newest conversations, pinned ones first. They replace the reader's list. */
  snapshot: conversationPage,
  conversation: s.object({
    /** All changes since the last event about this conversation. */
    changes: s.list(conversationChangeKind),
    /** The conversation as the list shows it now. */
    conversation: s.named<ConversationSummary>(conversationSummary),
    /** The end of the newest response, with `response_ended`. */
    ended: s.optional(endedResponse),
  }),
  conversation_deleted: s.object({ conversationId: s.string() }),
};

/** One event of `GET /v1/events`, `{"id","event","data"}`. */
export const userEvent = s.either(
  Object.entries(userEventData).map(([event, data]) => s.object({ id: s.string(), event: s.literal(event), data })),
  { title: "An event about the conversations of a user" },
);

export interface ConversationUpdate extends s.ValueOf<(typeof userEventData)["conversation"]> {}

/** An event of `GET /v1/events`, without its id. */
export type UserEvent =
  | { readonly event: "snapshot"; readonly data: ConversationPage }
  | { readonly event: "conversation"; readonly data: ConversationUpdate }
  | { readonly event: "conversation_deleted"; readonly data: { readonly conversationId: string } };
