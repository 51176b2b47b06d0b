/**
 * The run log: one closed union of events, which a run appends in order.
 * Everything that is printed, stored or sent is a pure function of them.
 */
import type { Attachment } from "./attachments.ts";
import type { TokenPrice } from "./cost.ts";
import type { ClarificationAnswer } from "./chat.ts";
import type { Notice } from "./notices.ts";
import type { ApprovalRequestData, DocumentType, Effort, FinishReason, Mode, Usage } from "./response-parts.ts";
import type { ApprovalResolvedData, ProviderWaitData } from "./stream-events.ts";
import type { FileChange, TodoEffect, ToolEffect } from "./tool-effects.ts";

/** The state of an MCP server at the start of the run. */
export interface McpServerState {
  readonly name: string;
  /** State of the server. `not_trusted`, `changed`: the user hasn't approved the workspace's server (S-87). */
  readonly status: "ready" | "failed" | "not_trusted" | "changed";
  /** Names of its tools, as the server lists them. */
  readonly tools: readonly string[];
  /** The reason why the server isn't ready, in one line. */
  readonly problem?: string;
}

/** The first event of a response. */
export interface RunStart {
  readonly type: "run_start";
  /** Id of the response: `chat_<uuid>`; the uuid is the `request_id` of the command line (C10). */
  readonly responseId: string;
  /** Id of the conversation: `conv_<uuid>`; the uuid is the `session_id` of the command line (C5, C14). */
  readonly conversationId: string;
  readonly mode: Mode;
  /** Thinking effort of the model, if the user set it (C36). */
  readonly effort?: Effort;
  /** Sheaf requests summaries of the model's thinking (C12). */
  readonly includesReasoning?: true;
  /** The provider may search the web for the model (C48). */
  readonly webSearch?: true;
  /** Id of the model in requests to the provider (N7). */
  readonly model: string;
  /** Display name of the model (C5). */
  readonly modelName: string;
  /** The source of the API key (C5); `none` if the model needs no key. */
  readonly apiKeySource: "env" | "flag" | "login" | "none";
  /** Workspace root: absolute, links resolved (C5). */
  readonly workspace: string;
  /** The permission mode in the form of C5. */
  readonly permissionMode: "default" | "plan" | "ask" | "force";
  /** State of the sandbox. `untried` means that the run ended before Sheaf knew (C5). */
  readonly sandbox: "enabled" | "disabled" | "container" | "unavailable" | "untried";
  /** True if the user trusts the workspace (S-03). */
  readonly trusted: boolean;
  readonly sheafVersion: string;
  /** Additional folders that tools and commands may read and write: absolute, links resolved. */
  readonly addedFolders?: readonly string[];
  /** The first loss ends the run (C180). */
  readonly strict?: true;
  /** MCP servers that the user configured. */
  readonly mcpServers?: readonly McpServerState[];
  /** Prices of the model, if the user configured them. */
  readonly price?: TokenPrice;
  /** Size of the conversation, if the user configured the model's window. Tokens. */
  readonly context?: {
    /** The model's context window. */
    readonly windowTokens: number;
    /** Tokens in the window that earlier responses use. */
    readonly usedTokens: number;
  };
  /** Note to the model before the prompt: place and time of its work, unless the model has them already (C38). */
  readonly environment?: string;
  /** Note to the model before the prompt: the rules of the mode (C38). */
  readonly modeNote?: string;
  /** Note to the model before the prompt: the text of the slash command in the prompt (C91). */
  readonly commandNote?: string;
  /** The user's message. */
  readonly prompt: string;
  /** Files of the message (N66). */
  readonly attachments?: readonly Attachment[];
  /** The user wants a summary of the conversation instead of an answer (C35). */
  readonly shortens?: true;
  /** Stdin stayed open and silent, so the prompt lacks it (C1). */
  readonly stdin?: "skipped";
  /** Differences from the caller's request, one sentence each (C43). */
  readonly notices?: readonly Notice[];
  /** Labels that the user gave the run (C170). */
  readonly labels?: Readonly<Record<string, string>>;
  /** The answer must match a schema (`--output-schema`). */
  readonly hasSchema?: true;
  /** Answers to the questions of the previous response (N42). */
  readonly answers?: readonly ClarificationAnswer[];
  /** Progress of earlier responses, if there was any. */
  readonly progress?: Progress;
  /** The log was imported from a file: Sheaf doesn't trust the folders in it (S-91). */
  readonly imported?: true;
}

/** Progress of a conversation, which the model sees after a summary of the conversation. */
export interface Progress {
  readonly todos: readonly Pick<TodoEffect["todos"][number], "id" | "content" | "status">[];
  /** Files that the file tools changed, in the order of their last changes. */
  readonly changes: readonly ChangedFile[];
  /** Calls that failed and haven't succeeded since: the newest, oldest first. */
  readonly failures: readonly OpenFailure[];
}

/** A file that a conversation changed, with the sum of its changes. */
export interface ChangedFile extends Pick<FileChange, "operation" | "linesAdded" | "linesRemoved"> {
  /** Path in the form of the documents; the new path after a rename. */
  readonly filePath: string;
}

export interface OpenFailure {
  readonly callId: string;
  readonly toolName: string;
  /** The command or the file, shortened; "" for other calls. */
  readonly target: string;
  /** Code and message of the error, or the command's exit code and the end of its output. */
  readonly message: string;
}

/** The start of a model request. */
export interface TurnStart {
  readonly type: "turn_start";
  /** Number of the turn, from 1 (N5). */
  readonly turn: number;
  /** The request repeats the turn before, which broke off before any text; the model doesn't see that turn. */
  readonly repeats?: true;
  /** Sheaf's message to the model before this turn, for instance an error in its answer. */
  readonly note?: string;
}

/** A message that the user adds to a running response: the model sees it before its next turn (C240). */
export interface UserMessage {
  readonly type: "user_message";
  /** Id of the message while it waited at a server: `chat_<uuid>`. */
  readonly messageId?: string;
  readonly message: string;
  /** Files of the message (N66). */
  readonly attachments?: readonly Attachment[];
}

/** Model text, exactly as received. */
export interface TextDelta {
  readonly type: "text_delta";
  readonly text: string;
}

/** Model reasoning; never part of the answer (N14, C12). */
export interface ReasoningDelta {
  readonly type: "reasoning_delta";
  readonly text: string;
}

/**
 * Opaque data that a provider requires in later requests of the conversation: a signed or encrypted block of reasoning,
 * or the signature of a text or a call. It follows the item that it belongs to. No format shows it.
 */
export interface ProviderData {
  readonly type: "provider_data";
  /** The only reader of the data: wire protocol or package, provider, model. Sheaf sends it to no other. */
  readonly origin: string;
  /** The call that the data belongs to; absent: the data is its own block here, or belongs to the text before it. */
  readonly callId?: string;
  /** The provider's data, unchanged. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** A wait before Sheaf sends the request again: written at its start, and once a minute. */
export interface ProviderWait extends ProviderWaitData {
  readonly type: "provider_wait";
  /** The failure of the last try, with its status and the remedy. One line. */
  readonly message?: string;
}

/** The type of the document that a tool call becomes, by the effect of the tool (N28). */
export type ToolDocumentType = Extract<
  DocumentType,
  "file_edit" | "tool_call" | "terminal_command" | "plan" | "clarification" | "todo_update"
>;

/** The start of a tool call that the model writes. */
export interface ToolCallStart {
  readonly type: "tool_call_start";
  /** Id made by Sheaf: `call_…`, unique in the conversation, `[A-Za-z0-9_-]{1,240}` (N29, C8). */
  readonly callId: string;
  readonly toolName: string;
  readonly documentType: ToolDocumentType;
  /** Id from the provider, if it sent one (N29). */
  readonly providerCallId?: string;
  /**
   * The maker of the call. Absent: the model calls the tool. Otherwise Sheaf itself (`agent`), the model in its `text`
   * (N127), or the `provider`, which runs the call and sends the result in the same turn (N69).
   */
  readonly origin?: "agent" | "provider" | "text";
}

/** A piece of the arguments' JSON text. */
export interface ToolCallArgumentsDelta {
  readonly type: "tool_call_arguments_delta";
  readonly callId: string;
  readonly delta: string;
}

/** The complete arguments of a call. */
export interface ToolCallArguments {
  readonly type: "tool_call_arguments";
  readonly callId: string;
  /** The parsed arguments; `{}` if they didn't parse (N30). */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The model's text, if it didn't parse (N30). */
  readonly rawArguments?: string;
  /** Slips in the model's JSON that Sheaf mended, such as "a comma before the end" (N128). */
  readonly mended?: readonly string[];
}

/** Live output of a tool. */
export interface ToolOutputDelta {
  readonly type: "tool_output_delta";
  readonly callId: string;
  readonly stream: "stdout" | "stderr";
  readonly delta: string;
}

/** Error of a tool. Its code can be missing in the exit table. */
export interface ToolError {
  /** Upper snake case (N39), for instance FILE_NOT_FOUND, PERMISSION_DENIED, CANCELLED. */
  readonly code: string;
  /** The failure, its value and the remedy, in one line. */
  readonly message: string;
  /** Additional text, or "". */
  readonly details: string;
}

/** The end of a tool call. Each started call has exactly one result (C8). */
export interface ToolResult {
  readonly type: "tool_result";
  readonly callId: string;
  /**
   * Outcome: `rejected` by a mode, a rule or the user, `cancelled` because the run ended first.
   * A command with an exit code other than 0 is a success of the tool (N37).
   */
  readonly status: "success" | "error" | "rejected" | "cancelled";
  /** The output, which is the `data` of the document (N36). */
  readonly output: string;
  /** The output that the model sees, for instance with line numbers, or shortened (N56). Absent: `output`. */
  readonly shown?: string;
  /** Notes on the output, such as cuts; the model sees them after it. */
  readonly note?: string;
  /** Files that the model sees with the output (N68). */
  readonly attachments?: readonly Attachment[];
  /** True if `output` is incomplete (N36). */
  readonly truncated?: true;
  /** Bytes of the whole output, if `truncated` (N36). */
  readonly bytes?: number;
  /** Number of places that rules hid from a search (S-243). Absent: rules hid no place. */
  readonly denied?: number;
  /** The error; present iff `status` isn't `success`. */
  readonly error?: ToolError;
  /**
   * The reason why Sheaf refused the call. `sandbox`: the command could change something, but no sandbox works (S-31).
   * `permission` means that the call needs approval, without a person to ask (C180).
   */
  readonly lacks?: "sandbox" | "permission";
  /** A notice about the call to the user. */
  readonly notice?: Notice;
  /**
   * Number of the recorded state that has the changes of the call, if it may change files. Several calls can
   * share a state. Absent: Sheaf records no states.
   */
  readonly state?: number;
  /** The effect of the call, for projections. After an error, it has the part that the tool completed. */
  readonly effect?: ToolEffect;
  readonly durationMs: number;
}

/** A question to a person: may this call run (X8)? */
export interface ApprovalRequest extends Omit<ApprovalRequestData, "documentId"> {
  readonly type: "approval_request";
  readonly callId: string;
  /** SHA-256, hex, of the tool's name and its arguments: the answer applies to exactly this call (S-16). */
  readonly argumentsHash: string;
  /** The rules that "always" applies to. Empty means exactly this call. */
  readonly rules: readonly string[];
  /** SHA-256, hex, of the description and the schema of an MCP tool: "always" applies to this version only (S-16). */
  readonly toolHash?: string;
}

/** The answer to an approval request, when its call continues or the run ends (X8). Each request has one. */
export interface ApprovalResolved extends ApprovalResolvedData {
  readonly type: "approval_resolved";
  /** The arguments by which the person replaced the call's; the answer then applies to this call only. */
  readonly editedArguments?: Readonly<Record<string, unknown>>;
}

/** Moments when a user's hook runs, named as in Claude Code, except `Verify` (C168). */
export type HookEventName =
  | "SessionStart"
  | "UserPromptSubmit"
  | "PreToolUse"
  | "PostToolUse"
  | "Notification"
  | "PreCompact"
  | "Stop"
  | "Verify"
  | "SessionEnd";

/** The run of a hook: a command of the user, before or after a step of the run (C80). */
export interface HookResult {
  readonly type: "hook_result";
  readonly event: HookEventName;
  /** The configuration that has the hook: the user's, or the workspace's. */
  readonly origin: "user" | "workspace";
  /** The command in the configuration; shortened. */
  readonly command: string;
  /** The call that the hook ran for. */
  readonly callId?: string;
  /** Outcome of the hook: `failed` if it didn't run to its end, or Sheaf doesn't understand its answer. */
  readonly status: "success" | "failed";
  /** Exit code of the hook; -1: it never started. */
  readonly exitCode: number;
  /**
   * The hook's decision. `block` refuses the call or the prompt, objects to the result, or makes the answer continue.
   * `ask` requires a person's approval, `end` ends the run. Absent: no decision.
   */
  readonly decision?: "block" | "ask" | "end";
  /** The hook's reason; shortened. */
  readonly reason?: string;
  /** The hook's replacement for the arguments of the call. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** The hook's text for the model; shortened. */
  readonly context?: string;
  /** The hook's message to the user, or its failure, in a sentence; shortened. */
  readonly notice?: Notice;
  readonly durationMs: number;
}

/** The result of comparing the model's quote with the file (N22). It precedes the delta that closes the fence. */
export interface ReferenceCheck {
  readonly type: "reference_check";
  /** Number of the code reference in the turn, from 0. */
  readonly index: number;
  readonly verified: boolean;
  /** The lines to show instead, because the model's line numbers are wrong (N61). */
  readonly correction?: {
    /** The reference in the model's text: `12:14:src/main.py`. */
    readonly quoted: string;
    readonly startLine: number;
    readonly endLine: number;
  };
}

/** The reason why a model request ended. */
export type TurnFinishReason =
  | "stop"
  | "tool_calls"
  | "max_tokens"
  | "content_filter"
  | "refusal"
  | "error"
  | "unknown";

/** The end of a model request. */
export interface TurnEnd {
  readonly type: "turn_end";
  readonly finishReason: TurnFinishReason;
  /** The provider's own reason, or "". */
  readonly rawFinishReason: string;
  readonly usage: Usage;
  /** A note on the request for the user, for instance that the model lacks this effort (C36). One sentence. */
  readonly notice?: Notice;
  /** The text ends where the process that wrote it died; the next turn continues it. */
  readonly cut?: true;
  /** The model that answered, if it isn't the model of the run but a fallback (C59). */
  readonly model?: AnsweringModel;
  /** Time spent waiting for the model (C10 `duration_model_ms`). Milliseconds. */
  readonly modelMs: number;
}

/** A model other than the run's. */
export interface AnsweringModel {
  /** Id of the model in the request. */
  readonly id: string;
  /** Display name of the model. */
  readonly name: string;
  /** Prices of the model, if Sheaf knows them. */
  readonly price?: TokenPrice;
}

/** A summary that replaces the older part of the conversation from here on, because the conversation was too long. */
export interface Compaction {
  readonly type: "compaction";
  /** Cause: the `window` was nearly full, the provider `refused` a request as too long, or the user `asked`. */
  readonly reason: "window" | "refused" | "asked";
  /** The summary that the model wrote. */
  readonly summary: string;
  /** Number of messages at the end that stay unchanged. */
  readonly keptMessages: number;
  /** Tokens for the user's older messages; the longest ones lose their middle. Absent: no limit. */
  readonly userTokens?: number;
  /** Estimated tokens of the shortened conversation. */
  readonly tokens: number;
  /** Usage of the summary. */
  readonly usage: Usage;
  /** The model that wrote the summary, as in `turn_end`. */
  readonly model?: AnsweringModel;
  /** The reason for the summary, for the user. */
  readonly notice?: Notice;
  /** Time spent waiting for the model. Milliseconds. */
  readonly modelMs: number;
}

/** The failure of a run. Its code is from the closed table of the command line (C20). */
export interface RunError {
  readonly code: string;
  /** The failure, its value and the remedy, in one line (C21). */
  readonly message: string;
  /** Tool name, or `provider`, `agent`, `sandbox`, `user`, `server`, `storage` (N39). */
  readonly source: string;
  /** Additional text, or "". */
  readonly details: string;
  readonly retryable: boolean;
  /** The end of the quota's limit in RFC 3339, if the provider sent it (C20). */
  readonly resetsAt?: string;
}

/** The last event of a response. */
export interface RunEnd {
  readonly type: "run_end";
  readonly reason: FinishReason;
  /** The error; present iff the response's status is `error` (N2). */
  readonly error?: RunError;
  /** The answer's value, if the user gave a schema and the answer matches it. */
  readonly output?: unknown;
  /** The place of the run's files, and unfinished work at its end, one sentence each (C71). */
  readonly notices?: readonly Notice[];
}

/**
 * An event of a subagent, which a call of `run_agent` runs. The wrapper keeps a subagent's text and calls apart from
 * those in the run itself (S-151).
 */
export interface AgentEvent {
  readonly type: "agent_event";
  /** The call of `run_agent`. */
  readonly callId: string;
  /** The event in the subagent's log, from `run_start` to `run_end`. */
  readonly event: OwnEventBody;
}

/** An event before it has a number and a time. */
export type RunEventBody = OwnEventBody | AgentEvent;

/** An event of the run itself, not of a subagent. */
export type OwnEventBody =
  | RunStart
  | TurnStart
  | UserMessage
  | TextDelta
  | ReasoningDelta
  | ProviderData
  | ProviderWait
  | ToolCallStart
  | ToolCallArgumentsDelta
  | ToolCallArguments
  | ToolOutputDelta
  | ToolResult
  | ApprovalRequest
  | ApprovalResolved
  | HookResult
  | ReferenceCheck
  | TurnEnd
  | Compaction
  | RunEnd;

export type RunEvent = RunEventBody & {
  /** Number of the event in the response, from 1, without gaps. */
  readonly seq: number;
  /** Milliseconds since 1970; never decreases within a run (C7). */
  readonly time: number;
};

export type RunEventType = RunEventBody["type"];

/** Events from the stream of a model; the run makes the other events. */
export type ModelEvent =
  | TextDelta
  | ReasoningDelta
  | ProviderData
  | ProviderWait
  | ToolCallStart
  | ToolCallArgumentsDelta
  | ToolCallArguments
  /** The result of a call that the provider runs. */
  | ToolResult
  | TurnEnd;
