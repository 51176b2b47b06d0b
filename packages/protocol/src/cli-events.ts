/** The lines of `--output-format stream-json` and the object of `json`. Clauses: docs/formats/cli.md. */
import { planTodos } from "./documents.ts";
import { notice, refusal, type Notice, type Refusal } from "./notices.ts";
import { instant, milliseconds, type Verification, verification } from "./response-parts.ts";
import * as s from "./schema.ts";

const count = s.integer({ minimum: 0 });
const callId = s.string({ pattern: "^[A-Za-z0-9_-]{1,240}$" });
const fields = s.record(s.anything());
const uuid = s.string({ format: "uuid", pattern: "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$" });

const apiKeySource = s.choice(["env", "flag", "login", "none"]);

/** Source of the API key (C5). Ext values follow the first three or four of each list. */
export type ApiKeySource = s.ValueOf<typeof apiKeySource>;

const initLine = s.object({
  type: s.literal("system"),
  subtype: s.literal("init"),
  apiKeySource,
  /** Absolute path, links resolved. */
  cwd: s.string({ minLength: 1 }),
  /** UUID; the same in every line and across `--resume` (C14). */
  session_id: uuid,
  /** Display name of the model. */
  model: s.string(),
  /** Ext values: `plan`, `ask`, `force`. */
  permissionMode: s.choice(["default", "plan", "ask", "force"]),
  /** Ext: `Major.Minor`; fields are only added within a major (C13). */
  schema_version: s.string({ pattern: "^\\d+\\.\\d+$" }),
  /** Ext: version of Sheaf. */
  sheaf_version: s.string(),
  /** Ext: the sandbox of the commands. */
  sandbox: s.choice(["enabled", "disabled", "container", "unavailable", "untried"]),
  /** Ext: true if the user trusts the workspace (S-03). */
  trusted: s.boolean(),
  /** Ext: folders that the user added; absolute, links resolved. */
  added_folders: s.optional(s.list(s.string())),
  /** Ext: MCP servers that the user configured. */
  mcp_servers: s.optional(
    s.list(
      s.object({
        name: s.string(),
        status: s.choice(["ready", "failed", "not_trusted", "changed"]),
        tools: s.list(s.string()),
        /** The reason why the server isn't ready. */
        problem: s.optional(s.string()),
      }),
    ),
  ),
  /** Ext: stdin stayed open and silent, so Sheaf didn't read it (C1). */
  stdin: s.optional(s.literal("skipped")),
  /** Ext: differences from the caller's request (C43). */
  notices: s.optional(s.list<Notice>(notice)),
});

/** First line, once (C5). */
export interface InitLine extends s.ValueOf<typeof initLine> {}

const textContent = s.object({ type: s.literal("text"), text: s.string() });

/** One text item (C6, C7). */
export interface TextContent extends s.ValueOf<typeof textContent> {}

function message<const Role extends string>(role: Role) {
  return s.object({ role: s.literal(role), content: s.single<TextContent>(textContent) });
}

const userLine = s.object({ type: s.literal("user"), message: message("user"), session_id: uuid });

/** Second line (C6), or a message that reached the model during the run (C240). */
export interface UserLine extends s.ValueOf<typeof userLine> {}

const assistantLine = s.object({
  type: s.literal("assistant"),
  message: message("assistant"),
  session_id: uuid,
  /** Ext: milliseconds since 1970; never decreases. */
  timestamp_ms: count,
});

/** A piece of the answer (C7). */
export interface AssistantLine extends s.ValueOf<typeof assistantLine> {}

const thinkingLine = s.object({
  type: s.literal("thinking"),
  subtype: s.choice(["delta", "completed"]),
  /** Text of the thinking, in `delta` lines. */
  text: s.optional(s.string()),
  session_id: uuid,
  timestamp_ms: count,
});

/** Ext, only with `--include-thinking` (C12). */
export interface ThinkingLine extends s.ValueOf<typeof thinkingLine> {}

/** Makes a schema of outcomes. `success`, and the shell's `failure` and `timeout`, depend on the tool. */
function outcome<Success>(success: s.Schema<Success>) {
  return s.either([
    s.strict(s.object({ success })),
    s.strict(s.object({ error: s.object({ errorMessage: s.string() }) })),
    s.strict(s.object({ rejected: s.object({ reason: s.string() }) })),
    s.strict(s.object({ failure: success })),
    s.strict(s.object({ timeout: success })),
  ]);
}

const anyOutcome = outcome(fields);

/** Outcome of a tool: exactly one key (C9). */
export type CliToolOutcome = s.ValueOf<typeof anyOutcome>;

/** Makes the schema of one tool: its arguments, and the content of `success` (C9). */
function tool(args: s.Schema, success: s.Schema): s.Schema<ToolCallPayload> {
  return s.object({ args, result: s.optional(outcome(success)) }) as s.Schema as s.Schema<ToolCallPayload>;
}

const planQuestion = s.object({
  id: s.string(),
  prompt: s.string(),
  options: s.list(s.object({ id: s.string(), label: s.string() })),
  allowMultiple: s.boolean(),
});

/** A question in the form of the command line (C9, C22). */
export interface CliQuestion extends s.ValueOf<typeof planQuestion> {}

const questions = s.list<CliQuestion>(planQuestion);
const edit = s.object({ oldText: s.string(), newText: s.string(), replaceAll: s.optional(s.boolean()) });
/** Content of an MCP tool's result (C52). */
const mcpContent = s.either([
  s.strict(s.object({ text: s.object({ text: s.string() }) })),
  s.strict(s.object({ image: s.object({ data: s.string(), mimeType: s.string() }) })),
]);

const todos = s.list(
  s.object({
    id: s.string(),
    content: s.string(),
    status: s.string({ pattern: "^TODO_STATUS_" }),
    dependencies: s.optional(s.list(s.string())),
  }),
);
const path = s.object({ path: s.string() });

const tools = {
  readToolCall: tool(
    s.extend(path, { offset: s.optional(s.integer()), limit: s.optional(s.integer()) }),
    s.object({
      content: s.string(),
      isEmpty: s.boolean(),
      exceededLimit: s.boolean(),
      totalLines: count,
      totalChars: count,
      fileSize: count,
      path: s.string(),
      readRange: s.object({ startLine: count, endLine: count }),
    }),
  ),
  writeToolCall: tool(
    s.extend(path, { fileText: s.string(), toolCallId: callId }),
    s.extend(path, { linesCreated: count, fileSize: count }),
  ),
  editToolCall: tool(
    s.either([
      s.strict(s.extend(path, { strReplace: edit })),
      s.strict(s.extend(path, { multiStrReplace: s.object({ edits: s.list(edit) }) })),
    ]),
    s.extend(path, {
      linesAdded: count,
      linesRemoved: count,
      diffString: s.string(),
      afterFullFileContent: s.string(),
      message: s.string(),
    }),
  ),
  deleteToolCall: tool(path, s.extend(path, { fileSize: count })),
  shellToolCall: tool(
    s.object({
      command: s.string(),
      workingDirectory: s.string(),
      timeout: count,
      toolCallId: callId,
      isBackground: s.boolean(),
      description: s.optional(s.string()),
    }),
    s.object({
      command: s.string(),
      workingDirectory: s.string(),
      exitCode: s.integer(),
      signal: s.string(),
      stdout: s.string(),
      stderr: s.string(),
      executionTime: count,
      interleavedOutput: s.string(),
      terminalId: s.optional(s.string()),
      refusals: s.optional(s.list(s.string())),
    }),
  ),
  grepToolCall: tool(
    s.object({
      pattern: s.string(),
      path: s.optional(s.string()),
      glob: s.optional(s.string()),
      caseInsensitive: s.optional(s.boolean()),
      outputMode: s.optional(s.string()),
    }),
    s.object({
      matches: s.list(s.extend(path, { lines: s.list(s.object({ line: count, text: s.string() })) })),
      totalFiles: count,
      totalMatches: count,
      truncated: s.boolean(),
      denied: s.optional(count),
    }),
  ),
  globToolCall: tool(
    s.object({ globPattern: s.string(), targetDirectory: s.optional(s.string()) }),
    s.object({ files: s.list(s.string()), totalFiles: count, truncated: s.boolean(), denied: s.optional(count) }),
  ),
  lsToolCall: tool(path, s.object({ tree: s.string(), denied: s.optional(count) })),
  updateTodosToolCall: tool(s.object({ todos, merge: s.boolean() }), s.object({ todos, totalCount: count })),
  createPlanToolCall: tool(s.object({ plan: s.string(), toolCallId: callId }), s.object({})),
  askQuestionToolCall: tool(
    s.object({ title: s.string(), questions }),
    s.object({ answers: s.list(s.anything()), questions }),
  ),
  webFetchToolCall: tool(
    s.object({ url: s.string(), toolCallId: callId }),
    s.object({ url: s.string(), markdown: s.string() }),
  ),
  taskToolCall: tool(
    s.object({
      description: s.string(),
      prompt: s.string(),
      subagentType: s.either([
        s.strict(s.object({ explore: s.strict(s.object({})) })),
        s.strict(s.object({ custom: s.strict(s.object({ name: s.string() })) })),
      ]),
      agentId: callId,
      mode: s.string(),
      environment: s.string(),
    }),
    s.object({
      conversationSteps: s.list(s.object({ assistantMessage: s.object({ text: s.string() }) })),
      agentId: callId,
      isBackground: s.boolean(),
      /** Duration as text. Milliseconds. */
      durationMs: s.string({ pattern: "^\\d+$" }),
    }),
  ),
  mcpToolCall: tool(
    s.object({
      name: s.string(),
      args: fields,
      toolCallId: callId,
      providerIdentifier: s.string(),
      toolName: s.string(),
    }),
    s.object({ content: s.list(mcpContent), isError: s.boolean() }),
  ),
};

/** Key of a tool in `tool_call` (C9). `function` is any other tool. */
export type ToolCallKey = keyof typeof tools;

/** Arguments and, once completed, the result (C9); the schema has the fields of each tool. */
export interface ToolCallPayload {
  readonly args: Readonly<Record<string, unknown>>;
  readonly result?: CliToolOutcome;
}

const functionPayload = s.object({
  name: s.string(),
  /** Arguments as JSON text. */
  arguments: s.string(),
  /** Ext: result of the call. */
  result: s.optional<CliToolOutcome>(anyOutcome),
});

/** Form of a tool without its own key (C9). */
export interface FunctionPayload extends s.ValueOf<typeof functionPayload> {}

type ToolCall = { readonly [Key in ToolCallKey]?: ToolCallPayload } | { readonly function: FunctionPayload };

/** Makes a schema of an object with exactly one key (C8). */
function toolCall(payloads: Readonly<Record<string, s.Schema>>): s.Schema<ToolCall> {
  return s.either(
    Object.entries(payloads).map(([key, payload]) => s.strict(s.object({ [key]: payload }))),
  ) as s.Schema as s.Schema<ToolCall>;
}

const toolCallLine = s.object({
  type: s.literal("tool_call"),
  subtype: s.choice(["started", "completed"]),
  /** Id of the call, `[A-Za-z0-9_-]{1,240}`. */
  call_id: callId,
  /** The call, under exactly one key. */
  tool_call: toolCall({ ...tools, function: functionPayload }),
  session_id: uuid,
  /** Ext: milliseconds since 1970. */
  timestamp_ms: count,
  /** Ext: call id and name of the subagent that made this call (C97). */
  agent: s.optional(s.object({ call_id: callId, name: s.string() })),
});

/** A tool call (C8). `tool_call` has exactly one key. */
export interface ToolCallLine extends s.ValueOf<typeof toolCallLine> {}

const cliUsage = s.object({
  inputTokens: count,
  outputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
  /** True if a part of the usage is estimated, or wasn't reported (N6). */
  estimated: s.optional(s.literal(true)),
});

/** Ext: usage of a run (C10). */
export interface CliUsage extends s.ValueOf<typeof cliUsage> {}

/** Ext: the facts of a run, even if it failed (C166). */
const facts = {
  /** Usage of all requests. Absent: no provider reported tokens. */
  usage: s.optional<CliUsage>(cliUsage),
  /** Time spent waiting for the model. Milliseconds. */
  duration_model_ms: milliseconds,
  num_turns: count,
  /** Cost in US dollars. Absent: a model request has no price, or no count of tokens. */
  total_cost_usd: s.optional(s.number()),
  /** The sandbox of the commands, as in `init`. */
  sandbox: s.string(),
  labels: s.optional(s.record(s.string())),
  refusals: s.optional(s.list<Refusal>(refusal)),
  /** Notices in this order: `init`, turns and hooks, end. */
  notices: s.optional(s.list<Notice>(notice)),
  /** The commands that verified the run (C168). */
  verify: s.optional(s.list<Verification>(verification)),
};

const resultSuccess = s.object({
  type: s.literal("result"),
  subtype: s.literal("success"),
  duration_ms: milliseconds,
  /** The same as `duration_ms` (C10). */
  duration_api_ms: milliseconds,
  is_error: s.literal(false),
  /** All text of the answer, joined (C7). */
  result: s.string(),
  session_id: uuid,
  request_id: uuid,
  ...facts,
  /** Ext: the reason why the run ended. */
  finish_reason: s.string(),
  /** Ext, with `--output-schema`: the answer's value. */
  structured_output: s.optional(s.anything()),
  /** Ext: the plan that a run of plan mode ended with; `plan` is Markdown. */
  plan: s.optional(
    s.object({
      title: s.string(),
      overview: s.string(),
      plan: s.string(),
      todos: planTodos,
    }),
  ),
});

/** Last line on success, and the object of `json` (C3, C10). */
export interface ResultSuccess extends s.ValueOf<typeof resultSuccess> {}

const resultError = s.object({
  type: s.literal("result"),
  subtype: s.literal("error"),
  duration_ms: milliseconds,
  duration_api_ms: milliseconds,
  is_error: s.literal(true),
  /** The text so far. */
  result: s.string(),
  session_id: uuid,
  request_id: uuid,
  /** The failure; `resets_at` is RFC 3339. */
  error: s.object({
    code: s.string({ pattern: "^[A-Z_]+$" }),
    message: s.string(),
    retryable: s.boolean(),
    resets_at: s.optional(instant),
  }),
  ...facts,
  /** Ext: the answer's value, if the run failed although it has an answer. */
  structured_output: s.optional(s.anything()),
});

/** Last line on failure (C22). */
export interface ResultError extends s.ValueOf<typeof resultError> {}

const resultNeedsInput = s.object({
  type: s.literal("result"),
  subtype: s.literal("needs_input"),
  duration_ms: milliseconds,
  duration_api_ms: milliseconds,
  is_error: s.literal(false),
  result: s.string(),
  session_id: uuid,
  request_id: uuid,
  questions,
  ...facts,
});

/** Last line when the agent asks the user, exit code 10 (C22, C25). */
export interface ResultNeedsInput extends s.ValueOf<typeof resultNeedsInput> {}

export type ResultLine = ResultSuccess | ResultError | ResultNeedsInput;

const heartbeatLine = s.object({
  type: s.literal("system"),
  subtype: s.literal("heartbeat"),
  session_id: uuid,
  timestamp_ms: count,
  /** The reason and the end of a pause before the next model request. */
  waiting: s.optional(s.object({ code: s.string(), until: instant })),
});

/** Ext, only with `--heartbeat` (C26). */
export interface HeartbeatLine extends s.ValueOf<typeof heartbeatLine> {}

const hookLine = s.object({
  type: s.literal("system"),
  subtype: s.literal("hook"),
  event: s.string(),
  origin: s.growingChoice(["user", "workspace"]),
  command: s.string(),
  call_id: s.optional(callId),
  status: s.growingChoice(["success", "failed"]),
  exit_code: s.integer(),
  decision: s.optional(s.growingChoice(["block", "ask", "end"])),
  reason: s.optional(s.string()),
  /** The hook's message to the user, or its failure. */
  notice: s.optional<Notice>(notice),
  duration_ms: milliseconds,
  session_id: uuid,
  timestamp_ms: count,
});

/** Ext: the run of a hook (C84). */
export interface HookLine extends s.ValueOf<typeof hookLine> {}

const approvalLine = s.object({
  type: s.literal("control_request"),
  request_id: s.string(),
  request: s.object({
    subtype: s.literal("can_use_tool"),
    tool_name: s.string(),
    input: fields,
    tool_use_id: callId,
    title: s.string(),
    description: s.string(),
    /** Subject of the approval, with visible signs for hidden characters (S-16). */
    subject: fields,
    options: s.list(
      s.object({ id: s.string(), label: s.string(), kind: s.string(), rules: s.optional(s.list(s.string())) }),
    ),
    expires_at: instant,
  }),
  session_id: uuid,
});

/** Ext, only with `--input-format stream-json`: a call needs a person (C66). */
export interface ApprovalLine extends s.ValueOf<typeof approvalLine> {}

const controlCancelLine = s.object({
  type: s.literal("control_cancel_request"),
  request_id: s.string(),
  session_id: uuid,
});

/** Ext: a request no longer needs an answer (C66). */
export interface ControlCancelLine extends s.ValueOf<typeof controlCancelLine> {}

const controlResponseLine = s.object({
  type: s.literal("control_response"),
  response: s.either([
    s.object({ subtype: s.literal("success"), request_id: s.string(), response: fields }),
    s.object({ subtype: s.literal("error"), request_id: s.string(), error: s.string() }),
  ]),
  session_id: uuid,
});

/** Ext: the response to a request on stdin (C66). */
export interface ControlResponseLine extends s.ValueOf<typeof controlResponseLine> {}

/** Ext, only with `--input-format stream-json` (C66). */
export type ControlLine = ApprovalLine | ControlCancelLine | ControlResponseLine;

/** One line of `stream-json` (C4). */
export type CliLine =
  | InitLine
  | UserLine
  | AssistantLine
  | ThinkingLine
  | ToolCallLine
  | ResultLine
  | HeartbeatLine
  | HookLine
  | ControlLine;

export const cliLine: s.Schema<CliLine> = s.either(
  [
    initLine,
    heartbeatLine,
    hookLine,
    userLine,
    assistantLine,
    thinkingLine,
    toolCallLine,
    resultSuccess,
    resultError,
    resultNeedsInput,
    approvalLine,
    controlCancelLine,
    controlResponseLine,
  ],
  { title: "One line of sheaf --output-format stream-json" },
);
