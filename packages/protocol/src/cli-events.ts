/** The lines of `--output-format stream-json` and the object of `json`. Clauses: docs/formats/cli.md. */
import type { PlanTodo } from "./documents.ts";

/** C5. Ext values follow the first three or four of each list. */
export type ApiKeySource = "env" | "flag" | "login" | "none";

/** First line, once (C5). */
export interface InitLine {
  readonly type: "system";
  readonly subtype: "init";
  readonly apiKeySource: ApiKeySource;
  /** Absolute, links resolved. */
  readonly cwd: string;
  /** UUID; the same in every line and across `--resume` (C14). */
  readonly session_id: string;
  /** Display name. */
  readonly model: string;
  /** Ext values: `plan`, `ask`, `force`. */
  readonly permissionMode: "default" | "plan" | "ask" | "force";
  /** Ext: `Major.Minor`; fields are only added within a major (C13). */
  readonly schema_version: string;
  /** Ext. */
  readonly sheaf_version: string;
  /** Ext. */
  readonly sandbox: "enabled" | "disabled" | "unavailable";
  /** Ext (S-03). */
  readonly trusted: boolean;
  /** Ext: only where the user added folders; absolute, links resolved. */
  readonly added_folders?: readonly string[];
  /** Ext: only where servers of the Model Context Protocol are named. */
  readonly mcp_servers?: readonly {
    readonly name: string;
    readonly status: "ready" | "failed";
    readonly tools: readonly string[];
  }[];
}

/** One text item (C6, C7). */
export interface TextContent {
  readonly type: "text";
  readonly text: string;
}

/** Second line (C6). */
export interface UserLine {
  readonly type: "user";
  readonly message: { readonly role: "user"; readonly content: readonly [TextContent] };
  readonly session_id: string;
}

/** A piece of the answer (C7). */
export interface AssistantLine {
  readonly type: "assistant";
  readonly message: { readonly role: "assistant"; readonly content: readonly [TextContent] };
  readonly session_id: string;
  /** Ext: never decreases. */
  readonly timestamp_ms: number;
}

/** Ext, only with `--include-thinking` (C12). */
export interface ThinkingLine {
  readonly type: "thinking";
  readonly subtype: "delta" | "completed";
  /** Only in `delta`. */
  readonly text?: string;
  readonly session_id: string;
  readonly timestamp_ms: number;
}

/** Outcome of a tool: exactly one key (C9). */
export type ToolOutcome =
  | { readonly success: Readonly<Record<string, unknown>> }
  | { readonly error: { readonly errorMessage: string } }
  | { readonly rejected: { readonly reason: string } }
  | { readonly failure: Readonly<Record<string, unknown>> }
  | { readonly timeout: Readonly<Record<string, unknown>> };

/** Key of a tool in `tool_call` (C9). `function` is any other tool. */
export type ToolCallKey =
  | "readToolCall"
  | "writeToolCall"
  | "editToolCall"
  | "deleteToolCall"
  | "shellToolCall"
  | "grepToolCall"
  | "globToolCall"
  | "lsToolCall"
  | "updateTodosToolCall"
  | "createPlanToolCall"
  | "askQuestionToolCall"
  | "webFetchToolCall"
  | "mcpToolCall";

/** Arguments and, once completed, the result (C9). */
export interface ToolCallPayload {
  readonly args: Readonly<Record<string, unknown>>;
  readonly result?: ToolOutcome;
}

/** Form of a tool without a key of its own (C9). */
export interface FunctionPayload {
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
  /** Ext. */
  readonly result?: ToolOutcome;
}

/** C8. `tool_call` has exactly one key. */
export interface ToolCallLine {
  readonly type: "tool_call";
  readonly subtype: "started" | "completed";
  /** `[A-Za-z0-9_-]{1,240}`. */
  readonly call_id: string;
  readonly tool_call: { readonly [Key in ToolCallKey]?: ToolCallPayload } | { readonly function: FunctionPayload };
  readonly session_id: string;
  /** Ext. */
  readonly timestamp_ms: number;
}

/** Ext (C10). */
export interface CliUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

/** Last line on success, and the object of `json` (C3, C10). */
export interface ResultSuccess {
  readonly type: "result";
  readonly subtype: "success";
  readonly duration_ms: number;
  /** Equal to `duration_ms` (C10). */
  readonly duration_api_ms: number;
  readonly is_error: false;
  /** All text of the answer, joined (C7). */
  readonly result: string;
  readonly session_id: string;
  readonly request_id: string;
  /** Ext. */
  readonly usage: CliUsage;
  /** Ext. */
  readonly finish_reason: string;
  /** Ext: time spent waiting for the model. */
  readonly duration_model_ms: number;
  /** Ext. */
  readonly num_turns: number;
  /** Ext. */
  readonly total_cost_usd?: number;
  /** Ext, with `--output-schema`: the answer's value. */
  readonly structured_output?: unknown;
  /** Ext: the plan that a run of plan mode ended with. */
  readonly plan?: {
    readonly title: string;
    readonly overview: string;
    /** Markdown. */
    readonly plan: string;
    readonly todos: readonly PlanTodo[];
  };
}

/** Last line on failure (C22). */
export interface ResultError {
  readonly type: "result";
  readonly subtype: "error";
  readonly duration_ms: number;
  readonly duration_api_ms: number;
  readonly is_error: true;
  /** The text so far. */
  readonly result: string;
  readonly session_id: string;
  readonly request_id: string;
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly retryable: boolean;
    /** RFC 3339. */
    readonly resets_at?: string;
  };
}

/** A question as the command line shows it (C9, C22). */
export interface CliQuestion {
  readonly id: string;
  readonly prompt: string;
  readonly options: readonly { readonly id: string; readonly label: string }[];
  readonly allowMultiple: boolean;
}

/** Last line when the agent asks the user, exit code 10 (C22, C25). */
export interface ResultNeedsInput {
  readonly type: "result";
  readonly subtype: "needs_input";
  readonly duration_ms: number;
  readonly duration_api_ms: number;
  readonly is_error: false;
  readonly result: string;
  readonly session_id: string;
  readonly request_id: string;
  readonly questions: readonly CliQuestion[];
}

export type ResultLine = ResultSuccess | ResultError | ResultNeedsInput;

/** Ext, only with `--heartbeat` (C26). */
export interface HeartbeatLine {
  readonly type: "system";
  readonly subtype: "heartbeat";
  readonly session_id: string;
  readonly timestamp_ms: number;
  /** While the model is not asked before a time. */
  readonly waiting?: { readonly code: string; readonly until: string };
}

/** One line of `stream-json` (C4). */
export type CliLine = InitLine | UserLine | AssistantLine | ThinkingLine | ToolCallLine | ResultLine | HeartbeatLine;

/** Version of the line format, `Major.Minor` (C13). */
export const cliSchemaVersion = "1.0";
