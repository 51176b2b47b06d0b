/** Schema of the lines of `stream-json` (C13), tied to the types of the protocol by a test. */
import * as z from "zod";

const count = z.int().min(0);
const uuid = z.uuid();
const callId = z.string().regex(/^[A-Za-z0-9_-]{1,240}$/);
const fields = z.record(z.string(), z.unknown());
const message = <Role extends string>(role: Role) =>
  z.object({
    role: z.literal(role),
    content: z.tuple([z.object({ type: z.literal("text"), text: z.string() })]),
  });

const init = z.object({
  type: z.literal("system"),
  subtype: z.literal("init"),
  apiKeySource: z.enum(["env", "flag", "login", "none"]),
  cwd: z.string().min(1),
  session_id: uuid,
  model: z.string(),
  permissionMode: z.enum(["default", "plan", "ask", "force"]),
  schema_version: z.string().regex(/^\d+\.\d+$/),
  sheaf_version: z.string(),
  sandbox: z.enum(["enabled", "disabled", "unavailable"]),
  trusted: z.boolean(),
  added_folders: z.array(z.string()).exactOptional(),
  mcp_servers: z
    .array(z.object({ name: z.string(), status: z.enum(["ready", "failed"]), tools: z.array(z.string()) }))
    .exactOptional(),
});

const heartbeat = z.object({
  type: z.literal("system"),
  subtype: z.literal("heartbeat"),
  session_id: uuid,
  timestamp_ms: count,
  waiting: z.object({ code: z.string(), until: z.iso.datetime() }).exactOptional(),
});

const user = z.object({ type: z.literal("user"), message: message("user"), session_id: uuid });

const assistant = z.object({
  type: z.literal("assistant"),
  message: message("assistant"),
  session_id: uuid,
  timestamp_ms: count,
});

const thinking = z.object({
  type: z.literal("thinking"),
  subtype: z.enum(["delta", "completed"]),
  text: z.string().exactOptional(),
  session_id: uuid,
  timestamp_ms: count,
});

const outcome = z.union([
  z.strictObject({ success: fields }),
  z.strictObject({ error: z.object({ errorMessage: z.string() }) }),
  z.strictObject({ rejected: z.object({ reason: z.string() }) }),
  z.strictObject({ failure: fields }),
  z.strictObject({ timeout: fields }),
]);

/** One tool: its arguments, and what `success` (and for the shell `failure`, `timeout`) hold (C9). */
const tool = (args: z.ZodType, success: z.ZodType) =>
  z.object({
    args,
    result: z
      .union([
        z.strictObject({ success }),
        z.strictObject({ error: z.object({ errorMessage: z.string() }) }),
        z.strictObject({ rejected: z.object({ reason: z.string() }) }),
        z.strictObject({ failure: success }),
        z.strictObject({ timeout: success }),
      ])
      .exactOptional(),
  });

const options = z.array(z.object({ id: z.string(), label: z.string() }));
const questions = z.array(z.object({ id: z.string(), prompt: z.string(), options, allowMultiple: z.boolean() }));
const edit = z.object({ oldText: z.string(), newText: z.string(), replaceAll: z.boolean().exactOptional() });
const todo = z.object({
  id: z.string(),
  content: z.string(),
  status: z.string().startsWith("TODO_STATUS_"),
  dependencies: z.array(z.string()).exactOptional(),
});
const path = z.object({ path: z.string() });

/** Shapes by key (C9). */
const tools = {
  readToolCall: tool(
    z.object({ path: z.string(), offset: z.int().exactOptional(), limit: z.int().exactOptional() }),
    z.object({
      content: z.string(),
      isEmpty: z.boolean(),
      exceededLimit: z.boolean(),
      totalLines: count,
      totalChars: count,
      fileSize: count,
      path: z.string(),
      readRange: z.object({ startLine: count, endLine: count }),
    }),
  ),
  writeToolCall: tool(
    z.object({ path: z.string(), fileText: z.string(), toolCallId: callId }),
    z.object({ path: z.string(), linesCreated: count, fileSize: count }),
  ),
  editToolCall: tool(
    z.union([
      z.strictObject({ path: z.string(), strReplace: edit }),
      z.strictObject({ path: z.string(), multiStrReplace: z.object({ edits: z.array(edit) }) }),
    ]),
    z.object({
      path: z.string(),
      linesAdded: count,
      linesRemoved: count,
      diffString: z.string(),
      afterFullFileContent: z.string(),
      message: z.string(),
    }),
  ),
  deleteToolCall: tool(path, z.object({ path: z.string(), fileSize: count })),
  shellToolCall: tool(
    z.object({
      command: z.string(),
      workingDirectory: z.string(),
      timeout: count,
      toolCallId: callId,
      isBackground: z.boolean(),
      description: z.string().exactOptional(),
    }),
    z.object({
      command: z.string(),
      workingDirectory: z.string(),
      exitCode: z.int(),
      signal: z.string(),
      stdout: z.string(),
      stderr: z.string(),
      executionTime: count,
      interleavedOutput: z.string(),
      terminalId: z.string().exactOptional(),
      refusals: z.array(z.string()).exactOptional(),
    }),
  ),
  grepToolCall: tool(
    z.object({
      pattern: z.string(),
      path: z.string().exactOptional(),
      glob: z.string().exactOptional(),
      caseInsensitive: z.boolean().exactOptional(),
      outputMode: z.string().exactOptional(),
    }),
    z.object({
      matches: z.array(z.object({ path: z.string(), lines: z.array(z.object({ line: count, text: z.string() })) })),
      totalFiles: count,
      totalMatches: count,
      truncated: z.boolean(),
    }),
  ),
  globToolCall: tool(
    z.object({ globPattern: z.string(), targetDirectory: z.string().exactOptional() }),
    z.object({ files: z.array(z.string()), totalFiles: count, truncated: z.boolean() }),
  ),
  lsToolCall: tool(path, z.object({ tree: z.string() })),
  updateTodosToolCall: tool(
    z.object({ todos: z.array(todo), merge: z.boolean() }),
    z.object({ todos: z.array(todo), totalCount: count }),
  ),
  createPlanToolCall: tool(z.object({ plan: z.string(), toolCallId: callId }), z.object({})),
  askQuestionToolCall: tool(
    z.object({ title: z.string(), questions }),
    z.object({ answers: z.array(z.unknown()), questions }),
  ),
  webFetchToolCall: tool(
    z.object({ url: z.string(), toolCallId: callId }),
    z.object({ url: z.string(), markdown: z.string() }),
  ),
  mcpToolCall: tool(
    z.object({
      name: z.string(),
      args: fields,
      toolCallId: callId,
      providerIdentifier: z.string(),
      toolName: z.string(),
    }),
    z.object({ content: z.array(z.unknown()), isError: z.boolean() }),
  ),
  function: z.object({ name: z.string(), arguments: z.string(), result: outcome.exactOptional() }),
};

/** Exactly one key (C8). */
const toolCalls = z.union(
  Object.entries(tools).map(([key, shape]) => z.strictObject({ [key]: shape })) as [z.ZodObject, ...z.ZodObject[]],
);

const toolCall = z.object({
  type: z.literal("tool_call"),
  subtype: z.enum(["started", "completed"]),
  call_id: callId,
  tool_call: toolCalls,
  session_id: uuid,
  timestamp_ms: count,
});

const durations = { duration_ms: count, duration_api_ms: count };
const ids = { session_id: uuid, request_id: uuid };

const planTodo = z.object({
  id: z.string(),
  content: z.string(),
  status: z.enum(["pending", "in_progress", "completed", "cancelled"]),
  dependencies: z.array(z.string()),
});

const success = z.object({
  type: z.literal("result"),
  subtype: z.literal("success"),
  ...durations,
  is_error: z.literal(false),
  result: z.string(),
  ...ids,
  usage: z.object({
    inputTokens: count,
    outputTokens: count,
    cacheReadTokens: count,
    cacheWriteTokens: count,
  }),
  finish_reason: z.string(),
  duration_model_ms: count,
  num_turns: count,
  total_cost_usd: z.number().exactOptional(),
  structured_output: z.unknown().exactOptional(),
  plan: z
    .object({ title: z.string(), overview: z.string(), plan: z.string(), todos: z.array(planTodo) })
    .exactOptional(),
});

const failure = z.object({
  type: z.literal("result"),
  subtype: z.literal("error"),
  ...durations,
  is_error: z.literal(true),
  result: z.string(),
  ...ids,
  error: z.object({
    code: z.string().regex(/^[A-Z_]+$/),
    message: z.string(),
    retryable: z.boolean(),
    resets_at: z.iso.datetime().exactOptional(),
  }),
});

const needsInput = z.object({
  type: z.literal("result"),
  subtype: z.literal("needs_input"),
  ...durations,
  is_error: z.literal(false),
  result: z.string(),
  ...ids,
  questions,
});

/** One line of `stream-json`; the object of `json` is a `result` line too. */
export const streamJsonSchema = z
  .union([init, heartbeat, user, assistant, thinking, toolCall, success, failure, needsInput])
  .meta({ title: "One line of sheaf --output-format stream-json" });
