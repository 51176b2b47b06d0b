/** Two conversations side by side (C271). */
import * as s from "./schema.ts";

const comparedConversation = s.object({
  conversationId: s.string(),
  /** The models of its responses, separated by ", ". */
  model: s.string(),
  responses: s.integer({ minimum: 0 }),
  turns: s.integer({ minimum: 0 }),
  calls: s.integer({ minimum: 0 }),
  inputTokens: s.integer({ minimum: 0 }),
  outputTokens: s.integer({ minimum: 0 }),
  costUsd: s.optional(s.number({ minimum: 0 })),
  /** "completed", or the reason or error code with which the last response ended. */
  end: s.string(),
  /** Paths of the files that it changed. */
  files: s.list(s.string()),
});

export const conversationComparison = s.object(
  {
    conversations: s.list(comparedConversation),
    /** The first difference; missing: both did the same. */
    parting: s.optional(
      s.object({
        /** Such as "response 1, turn 2, call 1 (read_file)". */
        place: s.string(),
        message: s.string(),
        /** Lines of a unified diff; "" where the message shows all. */
        diff: s.string(),
      }),
    ),
    /** Paths whose content differs at the ends. */
    files: s.list(s.string()),
  },
  { title: "Where two conversations part" },
);

/** `GET /v1/conversations/{id}/diff` (C271). */
export interface ConversationComparison extends s.ValueOf<typeof conversationComparison> {}
