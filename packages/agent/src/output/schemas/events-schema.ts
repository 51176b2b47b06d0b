/** Schema of the stream events in their envelope (X10, X15), tied to the types of the protocol by a test. */
import * as z from "zod";
import { responseSnapshotSchema } from "./api-answer-schemas.ts";
import { approvalRequestSchema } from "./approval-schema.ts";
import {
  documentTypeSchema,
  modeSchema,
  responseMetadataSchema,
  toolCallResultSchema,
  usageSchema,
} from "./documents-schema.ts";

const count = z.int().min(0);
const documentId = z.string().regex(/^doc_\d{3,}$/);
const fields = z.record(z.string(), z.unknown());

const event = <Name extends string, Data extends z.ZodType>(name: Name, data: Data) =>
  z.object({ id: z.int().min(1), event: z.literal(name), data });

const responseStart = z.object({
  id: z.string(),
  conversationId: z.string(),
  model: z.string(),
  mode: modeSchema,
  created: z.iso.datetime(),
  status: z.literal("streaming"),
  protocol: z.object({ version: z.string().regex(/^\d+\.\d+$/), schema: z.string() }),
  heartbeat_ms: count,
});

const documentStart = z.object({
  id: documentId,
  type: documentTypeSchema,
  sequence: z.int().min(1),
  metadata: fields.exactOptional(),
});

const documentEnd = z.object({
  documentId,
  finalContent: z.string().exactOptional(),
  finalContentSha256: z.string().exactOptional(),
  finalContentLength: count.exactOptional(),
  metadata: fields.exactOptional(),
});

const done = z.object({
  id: z.string().exactOptional(),
  status: z.enum(["completed", "error"]).exactOptional(),
  usage: usageSchema,
  metadata: responseMetadataSchema.exactOptional(),
});

/** One event, `{"id","event","data"}`. */
export const streamEventSchema = z
  .discriminatedUnion("event", [
    event("response_start", responseStart),
    event("document_start", documentStart),
    event("content_delta", z.object({ documentId, delta: z.string() })),
    event("tool_call_start", z.object({ documentId, toolName: z.string(), toolCallId: z.string() })),
    event("arguments_delta", z.object({ documentId, delta: z.string() })),
    event("tool_call_arguments", z.object({ documentId, arguments: fields })),
    event("output_delta", z.object({ documentId, stream: z.enum(["stdout", "stderr"]), delta: z.string() })),
    event("tool_result", z.object({ documentId, result: toolCallResultSchema })),
    event("document_end", documentEnd),
    event("reasoning_delta", z.object({ delta: z.string() })),
    event("snapshot", z.object({ response: responseSnapshotSchema })),
    event("approval_request", approvalRequestSchema),
    event("approval_resolved", z.object({ approvalId: z.string(), optionId: z.string(), by: z.string() })),
    event("provider_wait", z.object({ code: z.string(), until: z.iso.datetime(), tries: count })),
    event("done", done),
  ])
  .meta({ title: "One event of a response of Sheaf" });
