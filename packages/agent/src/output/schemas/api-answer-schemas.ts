/** Schemas of what the Chat API answers beside responses and events, tied to the types of the protocol by a test. */
import * as z from "zod";
import { clarificationAnswerSchema } from "./api-request-schemas.ts";
import { approvalRequestSchema } from "./approval-schema.ts";
import { chatResponseSchema, documentSchema, documentTypeSchema } from "./documents-schema.ts";

/** A document that is open has what is known so far (N3). */
const openDocumentSchema = z.object({
  id: z.string().regex(/^doc_\d{3,}$/),
  type: documentTypeSchema,
  sequence: z.int().min(1),
  content: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()),
  status: z.literal("in_progress"),
});

/** A response at any moment: what `GET /v1/responses/{id}` gives (N3). */
export const responseSnapshotSchema = chatResponseSchema
  .extend({
    documents: z.array(z.union([documentSchema, openDocumentSchema])),
    approvals: z.array(approvalRequestSchema).exactOptional(),
  })
  .meta({ title: "A response of Sheaf, complete or not" });

/** Body of every error before the first event (N52). */
export const errorBodySchema = z
  .object({
    error: z.object({
      errorCode: z.string().regex(/^[A-Z0-9_]+$/),
      message: z.string(),
      source: z.string(),
      details: z.string(),
    }),
  })
  .meta({ title: "An error of the Chat API of Sheaf" });

const summary = z.object({
  id: z.string().regex(/^conv_/),
  title: z.string(),
  created: z.iso.datetime(),
  updated: z.iso.datetime(),
  workspace: z.string().exactOptional(),
});

export const conversationSummarySchema = summary.meta({ title: "A conversation of Sheaf, in short" });

/** `GET /v1/conversations`. */
export const conversationPageSchema = z
  .object({ conversations: z.array(summary), next: z.string().exactOptional() })
  .meta({ title: "Some conversations of Sheaf, newest first" });

/** `GET /v1/conversations/{id}`. */
export const conversationSchema = summary
  .extend({
    turns: z.array(
      z.object({
        message: z.string(),
        answers: z.array(clarificationAnswerSchema).exactOptional(),
        response: responseSnapshotSchema,
      }),
    ),
  })
  .meta({ title: "A conversation of Sheaf" });

/** `GET /v1/models`. */
export const modelListSchema = z
  .object({ models: z.array(z.object({ id: z.string(), name: z.string().exactOptional() })) })
  .meta({ title: "Models that a request to Sheaf may name" });

/** `POST /v1/conversations/{id}/revert`. */
export const revertResultSchema = z
  .object({
    responseIds: z.array(z.string()),
    files: z.array(z.object({ filePath: z.string(), action: z.enum(["restored", "removed", "unchanged"]) })),
    conflicts: z.array(z.object({ filePath: z.string(), reason: z.string() })),
  })
  .meta({ title: "What was taken back by Sheaf" });

/** `POST /v1/responses/{id}/cancel`. */
export const cancelResultSchema = z
  .object({ id: z.string(), status: z.enum(["cancelling", "ended"]) })
  .meta({ title: "What becomes of a response of Sheaf that was cancelled" });

/** `POST /v1/responses/{id}/approvals/{approvalId}`. */
export const approvalResultSchema = z
  .object({ approvalId: z.string(), optionId: z.string() })
  .meta({ title: "An answer to an approval request of Sheaf that was taken" });
