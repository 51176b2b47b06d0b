/** Schema of the response and its ten document types (X10), tied to the types of the protocol by a test. */
import * as z from "zod";

const count = z.int().min(0);
const status = z.literal("in_progress").exactOptional();
const todoStatus = z.enum(["pending", "in_progress", "completed", "cancelled"]);
const origin = {
  toolName: z.string().exactOptional(),
  toolCallId: z.string().exactOptional(),
  providerToolCallId: z.string().exactOptional(),
};

const document = <Type extends string, Content extends z.ZodType, Metadata extends z.ZodType>(
  type: Type,
  content: Content,
  metadata: Metadata,
) => {
  const base = {
    id: z.string().regex(/^doc_\d{3,}$/),
    type: z.literal(type),
    sequence: z.int().min(1),
    content,
  };
  // An open document has what is known so far (N3).
  return z.object({ ...base, metadata, status });
};

const nestedCodeBlock = z.object({ offset: count, length: count, language: z.string() });

const text = document(
  "text",
  z.string(),
  z.object({
    format: z.enum(["markdown", "plain"]),
    codeBlocks: z.array(nestedCodeBlock).exactOptional(),
  }),
);

const codeReference = document(
  "code_reference",
  z.string(),
  z.object({
    filePath: z.string(),
    startLine: z.int().min(1),
    endLine: z.int().min(1),
    language: z.string(),
    rawPath: z.string().exactOptional(),
    verified: z.boolean().exactOptional(),
    closed: z.literal(false).exactOptional(),
  }),
);

const codeBlock = document(
  "code_block",
  z.string(),
  z.object({
    language: z.string(),
    purpose: z.enum(["new_code", "example", "suggestion"]),
    info: z.string().exactOptional(),
    closed: z.literal(false).exactOptional(),
  }),
);

const diff = z.object({ oldString: z.string(), newString: z.string(), startLine: count, endLine: count });

const fileEdit = document(
  "file_edit",
  z.string().nullable(),
  z.object({
    ...origin,
    filePath: z.string(),
    operation: z.enum(["create", "edit", "delete", "rename"]),
    language: z.string(),
    diff: diff.nullable().exactOptional(),
    newFilePath: z.string().exactOptional(),
    patch: z.string().exactOptional(),
    linesAdded: count.exactOptional(),
    linesRemoved: count.exactOptional(),
    state: z.enum(["proposed", "applied", "rejected", "failed"]).exactOptional(),
    binary: z.literal(true).exactOptional(),
    bytes: count.exactOptional(),
    truncated: z.literal(true).exactOptional(),
  }),
);

export const toolCallResultSchema = z.object({
  status: z.enum(["success", "error"]),
  data: z.unknown(),
  truncated: z.literal(true).exactOptional(),
  bytes: count.exactOptional(),
});

const toolCall = document(
  "tool_call",
  z.null(),
  z.object({
    toolName: z.string(),
    toolCallId: z.string(),
    arguments: z.record(z.string(), z.unknown()),
    result: toolCallResultSchema,
    duration_ms: count,
    rawArguments: z.string().exactOptional(),
    providerToolCallId: z.string().exactOptional(),
    draftOutput: z.string().exactOptional(),
  }),
);

const terminalCommand = document(
  "terminal_command",
  z.null(),
  z.object({
    ...origin,
    command: z.string(),
    workingDirectory: z.string().exactOptional(),
    exitCode: z.int(),
    output: z.string(),
    duration_ms: count,
    permissions: z.array(z.enum(["network", "write_outside_workspace", "unsandboxed"])),
    signal: z.string().exactOptional(),
    timedOut: z.literal(true).exactOptional(),
    truncated: z.literal(true).exactOptional(),
    background: z.literal(true).exactOptional(),
    terminalId: z.string().exactOptional(),
    refusals: z.array(z.string()).exactOptional(),
  }),
);

const plan = document(
  "plan",
  z.string(),
  z.object({
    ...origin,
    title: z.string(),
    overview: z.string(),
    todos: z.array(
      z.object({
        id: z.string(),
        content: z.string(),
        status: todoStatus,
        dependencies: z.array(z.string()),
      }),
    ),
    format: z.literal("markdown"),
    planId: z.string().exactOptional(),
    revision: z.int().min(1).exactOptional(),
  }),
);

const clarification = document(
  "clarification",
  z.string(),
  z.object({
    ...origin,
    questions: z.array(
      z.object({
        id: z.string(),
        text: z.string(),
        options: z.array(z.object({ id: z.string(), label: z.string() })),
        allowMultiple: z.boolean().exactOptional(),
        allowText: z.boolean().exactOptional(),
      }),
    ),
  }),
);

const error = document(
  "error",
  z.string(),
  z.object({
    errorCode: z.string().regex(/^[A-Z0-9_]+$/),
    source: z.string(),
    details: z.string(),
    relatedDocumentId: z.string().exactOptional(),
    recoverable: z.boolean().exactOptional(),
  }),
);

const todoUpdate = document(
  "todo_update",
  z.null(),
  z.object({
    ...origin,
    todos: z.array(
      z.object({
        id: z.string(),
        status: todoStatus,
        content: z.string().exactOptional(),
        dependencies: z.array(z.string()).exactOptional(),
        position: count.exactOptional(),
      }),
    ),
  }),
);

/** One complete document (R3 to R13). */
export const documentSchema = z.discriminatedUnion("type", [
  text,
  codeReference,
  codeBlock,
  fileEdit,
  toolCall,
  terminalCommand,
  plan,
  clarification,
  error,
  todoUpdate,
]);

/** Names of the document types. */
export const documentTypeSchema = z.enum([
  "text",
  "code_reference",
  "code_block",
  "file_edit",
  "tool_call",
  "terminal_command",
  "plan",
  "clarification",
  "error",
  "todo_update",
]);

export const modeSchema = z.enum(["agent", "plan", "ask", "debug"]);

export const usageSchema = z.object({
  promptTokens: count,
  completionTokens: count,
  totalTokens: count,
  reasoningTokens: count.exactOptional(),
  cachedPromptTokens: count.exactOptional(),
  cacheWriteTokens: count.exactOptional(),
  estimated: z.literal(true).exactOptional(),
});

export const responseMetadataSchema = z.object({
  duration_ms: count,
  toolCallCount: count,
  turnCount: count,
  actionCount: count.exactOptional(),
  waiting_ms: count.exactOptional(),
  finishReason: z
    .enum(["end_turn", "clarification", "refusal", "cancelled", "max_tokens", "budget", "error"])
    .exactOptional(),
  lastEventId: count.exactOptional(),
});

/** A response that is complete (R2, N1). */
export const chatResponseSchema = z
  .object({
    id: z.string().regex(/^chat_/),
    conversationId: z.string().regex(/^conv_/),
    model: z.string(),
    mode: modeSchema,
    created: z.iso.datetime(),
    status: z.enum(["completed", "streaming", "error"]),
    documents: z.array(documentSchema),
    usage: usageSchema,
    metadata: responseMetadataSchema,
  })
  .meta({ title: "A response of Sheaf" });
