/** The published JSON Schemas, by name (C13, X10). */
import * as z from "zod";
import {
  approvalResultSchema,
  cancelResultSchema,
  conversationPageSchema,
  conversationSchema,
  conversationSummarySchema,
  errorBodySchema,
  modelListSchema,
  responseSnapshotSchema,
  revertResultSchema,
} from "./api-answer-schemas.ts";
import {
  approvalAnswerSchema,
  chatRequestSchema,
  forkRequestSchema,
  revertRequestSchema,
  sessionRequestSchema,
} from "./api-request-schemas.ts";
import { chatResponseSchema } from "./documents-schema.ts";
import { streamEventSchema } from "./events-schema.ts";
import { streamJsonSchema } from "./stream-json-schema.ts";

const schemas = {
  "stream-json": streamJsonSchema,
  documents: chatResponseSchema,
  events: streamEventSchema,
  snapshot: responseSnapshotSchema,
  "chat-request": chatRequestSchema,
  error: errorBodySchema,
  conversation: conversationSchema,
  "conversation-summary": conversationSummarySchema,
  conversations: conversationPageSchema,
  models: modelListSchema,
  "cancel-result": cancelResultSchema,
  "approval-answer": approvalAnswerSchema,
  "approval-result": approvalResultSchema,
  "fork-request": forkRequestSchema,
  "revert-request": revertRequestSchema,
  "revert-result": revertResultSchema,
  "session-request": sessionRequestSchema,
} as const;

export type SchemaName = keyof typeof schemas;

export const schemaNames = Object.keys(schemas) as readonly SchemaName[];

/**
 * A JSON Schema, draft 2020-12. The published one is open: later versions add fields (C13, N1).
 * `closed: true` forbids unknown fields; the tests use it, so that a misspelt field is found.
 */
export function toJsonSchema(
  name: SchemaName,
  options: { readonly closed?: boolean } = {},
): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(schemas[name], {
    io: options.closed ? "output" : "input",
    target: "draft-2020-12",
    unrepresentable: "any",
  });
}
