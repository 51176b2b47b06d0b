/** Schemas of what clients send to the Chat API (section 7 of docs/formats/documents.md). */
import * as z from "zod";
import { modeSchema } from "./documents-schema.ts";

const id = z.string().min(1).max(200);

/** N42. */
export const clarificationAnswerSchema = z.object({
  documentId: id,
  questionId: z.string().max(1000),
  optionIds: z.array(z.string().max(1000)).max(100),
  text: z.string(),
});

const whole = z.int().min(1);

/** Limits of one response (C24); they can only lower those of the server. */
const budget = z.object({
  maxTurns: whole.exactOptional(),
  maxToolCalls: whole.exactOptional(),
  maxTokens: whole.exactOptional(),
  maxCostUsd: z.number().gt(0).exactOptional(),
  timeout: z.number().gt(0).max(86_400).exactOptional(),
});

/** Body of `POST /v1/chat`. Unknown fields are ignored (X14). */
export const chatRequestSchema = z
  .object({
    message: z.string(),
    conversationId: id.exactOptional(),
    /** Ext: name of the workspace of a new conversation; default: the first one. */
    workspace: id.exactOptional(),
    mode: modeSchema.exactOptional(),
    model: id.exactOptional(),
    stream: z.boolean().exactOptional(),
    answers: z.array(clarificationAnswerSchema).max(100).exactOptional(),
    approvals: z.enum(["deny", "ask"]).exactOptional(),
    accept: z
      .object({
        documentTypes: z.array(z.string().max(200)).max(100).exactOptional(),
        reasoning: z.boolean().exactOptional(),
      })
      .exactOptional(),
    onDisconnect: z.enum(["continue", "cancel"]).exactOptional(),
    whenBusy: z.enum(["reject", "queue", "cancel"]).exactOptional(),
    budget: budget.exactOptional(),
  })
  .refine(({ message, answers }) => message.trim() !== "" || (answers?.length ?? 0) > 0, {
    path: ["message"],
    message: "expected some text, or answers",
  })
  .meta({ title: "A request to the Chat API of Sheaf" });

export type ChatRequestBody = z.infer<typeof chatRequestSchema>;

/** Body of `POST /v1/session`: a ticket of `serve --open`; without it the header Authorization counts (S-51). */
export const sessionRequestSchema = z
  .object({ ticket: id.exactOptional() })
  .meta({ title: "A request of the page of Sheaf to be let in" });

/** Body of `POST /v1/responses/{id}/approvals/{approvalId}` (X8). */
export const approvalAnswerSchema = z
  .object({
    optionId: id,
    message: z.string().max(100_000).exactOptional(),
    /** The call runs with these instead of its own arguments. */
    editedArguments: z.record(z.string(), z.unknown()).exactOptional(),
  })
  .meta({ title: "An answer to an approval request of Sheaf" });

/** Body of `POST /v1/conversations/{id}/fork`. */
export const forkRequestSchema = z
  .object({ responseId: id })
  .meta({ title: "A request to fork a conversation of Sheaf" });

/** Body of `POST /v1/conversations/{id}/revert`. */
export const revertRequestSchema = z
  .object({
    responseId: id,
    /** What to do with files that something else has changed since; default: refuse. */
    onConflict: z.enum(["refuse", "leave", "overwrite"]).exactOptional(),
  })
  .meta({ title: "A request to take responses of a conversation of Sheaf back" });
