/**
 * The run log: the one closed union that a run writes and from which every format is made.
 * A run appends these events in order; whatever is printed, stored or sent is a pure function of them.
 */
import type { Attachment } from "./attachments.ts";
import type { TokenPrice } from "./cost.ts";
import type { ClarificationAnswer } from "./chat.ts";
import type { Notice } from "./notices.ts";
import type { ApprovalRequestData, DocumentType, Effort, FinishReason, Mode, Usage } from "./response-parts.ts";
import type { ApprovalResolvedData, ProviderWaitData } from "./stream-events.ts";
import type { FileChange, TodoEffect, ToolEffect } from "./tool-effects.ts";

/** The state of a server of the Model Context Protocol when the run began. */
export interface McpServerState {
  readonly name: string;
  /** `not_trusted`, `changed`: a server of the workspace that was left out, because the user has not said yes to it (S-87). */
  readonly status: "ready" | "failed" | "not_trusted" | "changed";
  /** Its tools, as it named them. */
  readonly tools: readonly string[];
  /** The reason why it is not ready, one line. */
  readonly problem?: string;
}

/** First event of a response. */
export interface RunStart {
  readonly type: "run_start";
  /** `chat_<uuid>`; the uuid is the `request_id` of the command line (C10). */
  readonly responseId: string;
  /** `conv_<uuid>`; the uuid is the `session_id` of the command line (C5, C14). */
  readonly conversationId: string;
  readonly mode: Mode;
  /** How much the model thinks, if the user said so (C36). */
  readonly effort?: Effort;
  /** The model is asked for summaries of its thinking (C12). */
  readonly includesReasoning?: true;
  /** The provider may search the web for the model (C48). */
  readonly webSearch?: true;
  /** Id used in the request to the provider (N7). */
  readonly model: string;
  /** Display name (C5). */
  readonly modelName: string;
  /** C5; `none` if the model needs no key. */
  readonly apiKeySource: "env" | "flag" | "login" | "none";
  /** Workspace root: absolute, links resolved (C5). */
  readonly workspace: string;
  /** C5. */
  readonly permissionMode: "default" | "plan" | "ask" | "force";
  /** True if commands run in a sandbox; `untried`: the run ended before that was known (C5). */
  readonly sandbox: "enabled" | "disabled" | "container" | "unavailable" | "untried";
  /** True if the workspace is trusted (S-03). */
  readonly trusted: boolean;
  readonly sheafVersion: string;
  /** Further folders that tools and commands may read and write, if the user added any: absolute, links resolved. */
  readonly addedFolders?: readonly string[];
  /** The first loss ends the run (C180). */
  readonly strict?: true;
  /** Servers of the Model Context Protocol, if the user named any. */
  readonly mcpServers?: readonly McpServerState[];
  /** Prices of the model, if the user configured them. */
  readonly price?: TokenPrice;
  /** Maximum length of the conversation, if the user configured it. Tokens. */
  readonly context?: {
    /** What fits into one request. */
    readonly windowTokens: number;
    /** What earlier responses use of it. */
    readonly usedTokens: number;
  };
  /** For the model, before the prompt: where and when it works; only what it has not been told (C38). */
  readonly environment?: string;
  /** For the model, before the prompt: what the mode asks of it (C38). */
  readonly modeNote?: string;
  /** For the model, before the prompt: the text of the command that the prompt names (C91). */
  readonly commandNote?: string;
  /** What the user wrote. */
  readonly prompt: string;
  /** Files that go with it (N66). */
  readonly attachments?: readonly Attachment[];
  /** The user asked for a summary of the conversation, and for no answer (C35). */
  readonly shortens?: true;
  /** Stdin stayed open and silent, so the prompt lacks it (C1). */
  readonly stdin?: "skipped";
  /** What differs from what the caller asked for, one sentence each (C43). */
  readonly notices?: readonly Notice[];
  /** What the user labelled the run with (C170). */
  readonly labels?: Readonly<Record<string, string>>;
  /** The answer must fit a schema (`--output-schema`). */
  readonly hasSchema?: true;
  /** Answers to the questions of the previous response (N42). */
  readonly answers?: readonly ClarificationAnswer[];
  /** What earlier responses did, if anything. */
  readonly progress?: Progress;
  /** The log was imported from a file: what it says of folders is a claim (S-91). */
  readonly imported?: true;
}

/** What a conversation did so far; after a summary of the conversation, the model sees it. */
export interface Progress {
  readonly todos: readonly Pick<TodoEffect["todos"][number], "id" | "content" | "status">[];
  /** By the file tools, in the order of their last changes. */
  readonly changes: readonly ChangedFile[];
  /** Calls that failed and have not succeeded since: the newest, oldest first. */
  readonly failures: readonly OpenFailure[];
}

/** A file that a conversation changed, with the sum of its changes. */
export interface ChangedFile extends Pick<FileChange, "operation" | "linesAdded" | "linesRemoved"> {
  /** As in the documents; after a rename, the new one. */
  readonly filePath: string;
}

/** A call that failed. */
export interface OpenFailure {
  readonly callId: string;
  readonly toolName: string;
  /** The command or the file; shortened. "" for other calls. */
  readonly target: string;
  /** Code and message of the error, or the exit code of the command and the end of its output. */
  readonly message: string;
}

/** A model request begins. */
export interface TurnStart {
  readonly type: "turn_start";
  /** From 1 (N5). */
  readonly turn: number;
  /** The same request as the turn before, which broke off before any text: the model doesn't see that turn. */
  readonly repeats?: true;
  /** Message of the run to the model before this turn, for instance what was wrong with its answer. */
  readonly note?: string;
}

/** The user adds something while the response runs: the model sees it before its next turn (C240). */
export interface UserMessage {
  readonly type: "user_message";
  /** `chat_<uuid>` under which it waited at a server. */
  readonly messageId?: string;
  readonly message: string;
  /** Files that go with it (N66). */
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
 * What a provider requires in later requests of the conversation, unread: a signed or encrypted block of reasoning, or
 * the signature of a text or a call. It follows what it belongs to. No format shows it.
 */
export interface ProviderData {
  readonly type: "provider_data";
  /** Who can read it: wire protocol or package, provider, model. It is sent to no other. */
  readonly origin: string;
  /** The call that it belongs to; absent: it is a block of its own at this place, or belongs to the text before it. */
  readonly callId?: string;
  /** The provider's own data. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** The request waits before it is sent again: written at the start of a wait, and once a minute. */
export interface ProviderWait extends ProviderWaitData {
  readonly type: "provider_wait";
  /** The failure of the last try, with its status and what to do. One line. */
  readonly message?: string;
}

/** The document that a tool call becomes, by what the tool does (N28). */
export type ToolDocumentType = Extract<
  DocumentType,
  "file_edit" | "tool_call" | "terminal_command" | "plan" | "clarification" | "todo_update"
>;

/** The model begins to write a tool call. */
export interface ToolCallStart {
  readonly type: "tool_call_start";
  /** Made by Sheaf, `call_…`, unique in the conversation, `[A-Za-z0-9_-]{1,240}` (N29, C8). */
  readonly callId: string;
  readonly toolName: string;
  readonly documentType: ToolDocumentType;
  /** Id that the provider gave, if any (N29). */
  readonly providerCallId?: string;
  /**
   * `agent`: Sheaf makes the call itself; `provider`: the provider runs it, and its result follows in the same turn (N69);
   * `text`: the model wrote it in its text (N127). Absent: the model asks for it.
   */
  readonly origin?: "agent" | "provider" | "text";
}

/** A piece of the arguments' JSON text. */
export interface ToolCallArgumentsDelta {
  readonly type: "tool_call_arguments_delta";
  readonly callId: string;
  readonly delta: string;
}

/** The arguments are complete. */
export interface ToolCallArguments {
  readonly type: "tool_call_arguments";
  readonly callId: string;
  /** `{}` if they did not parse (N30). */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** What the model wrote, if it did not parse (N30). */
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

/** Every code that a failed tool result can carry besides those of the exit table. */
export interface ToolError {
  /** Upper snake case (N39), for instance FILE_NOT_FOUND, PERMISSION_DENIED, CANCELLED. */
  readonly code: string;
  /** What failed, with which value, and what to do. One line. */
  readonly message: string;
  /** More, or "". */
  readonly details: string;
}

/** A tool call ended. Each started call gets exactly one (C8). */
export interface ToolResult {
  readonly type: "tool_result";
  readonly callId: string;
  /**
   * `rejected`: refused by mode, rule or user; `cancelled`: the run ended first.
   * A command with exit code other than 0 is a success of the tool (N37).
   */
  readonly status: "success" | "error" | "rejected" | "cancelled";
  /** The output; it is the `data` of the document (N36). */
  readonly output: string;
  /** What the model sees in place of `output`, for instance with line numbers, or shortened (N56). Absent: `output`. */
  readonly shown?: string;
  /** What was cut or is worth knowing; the model sees it after the output. */
  readonly note?: string;
  /** Files that the model sees with the output (N68). */
  readonly attachments?: readonly Attachment[];
  /** `output` is incomplete (N36). */
  readonly truncated?: true;
  /** Bytes of the whole output, when truncated (N36). */
  readonly bytes?: number;
  /** Number of places rules left out of a search (S-243). Absent: none. */
  readonly denied?: number;
  /** Present iff status is not success. */
  readonly error?: ToolError;
  /**
   * The reason why Sheaf refused the call. `sandbox`: a command that could change something, where none works (S-31). `permission`: it
   * needs approval, without a person to ask (C180).
   */
  readonly lacks?: "sandbox" | "permission";
  /** A notice about the call to the user. */
  readonly notice?: Notice;
  /**
   * The recorded state of the folders that has the changes of the call, if it may change files; the changes of
   * several calls may be in one state. Absent: Sheaf records none.
   */
  readonly state?: number;
  /** What happened, for projections. May be present for errors too, as far as the tool got. */
  readonly effect?: ToolEffect;
  readonly durationMs: number;
}

/** A person is asked whether a call may run (X8). */
export interface ApprovalRequest extends Omit<ApprovalRequestData, "documentId"> {
  readonly type: "approval_request";
  readonly callId: string;
  /** SHA-256, hex, of the tool's name and its arguments: the answer applies to nothing else (S-16). */
  readonly argumentsHash: string;
  /** The rules that "always" applies to; empty: exactly this call. */
  readonly rules: readonly string[];
  /** SHA-256, hex, of the description and the schema of a server's tool: "always" applies to no others (S-16). */
  readonly toolHash?: string;
}

/** The answer to an approval request, when its call continues or the run ends (X8). Each request gets one. */
export interface ApprovalResolved extends ApprovalResolvedData {
  readonly type: "approval_resolved";
  /** The arguments by which the person replaced the call's; the answer then applies to this call only. */
  readonly editedArguments?: Readonly<Record<string, unknown>>;
}

/** When a hook of the user runs; the names are those of Claude Code, but for `Verify` (C168). */
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

/** A hook ran: a command of the user's own, before or after something that the run does (C80). */
export interface HookResult {
  readonly type: "hook_result";
  readonly event: HookEventName;
  /** Whose hook it is. */
  readonly origin: "user" | "workspace";
  /** As the configuration has it; shortened. */
  readonly command: string;
  /** The call that it ran for. */
  readonly callId?: string;
  /** `failed`: it did not run to its end, or its answer is not understood. */
  readonly status: "success" | "failed";
  /** -1: it never started. */
  readonly exitCode: number;
  /**
   * What it decided. `block`: the call or the prompt is refused, the result is objected to, the answer is not the end;
   * `ask`: a person must agree; `end`: the run ends. Absent: nothing.
   */
  readonly decision?: "block" | "ask" | "end";
  /** Why, in its words; shortened. */
  readonly reason?: string;
  /** By what it replaced the arguments of the call. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** What it tells the model; shortened. */
  readonly context?: string;
  /** What it tells the user, or how it failed, in a sentence; shortened. */
  readonly notice?: Notice;
  readonly durationMs: number;
}

/** The model's quote of a file, compared with the file (N22). Comes before the delta that closes the fence. */
export interface ReferenceCheck {
  readonly type: "reference_check";
  /** 0-based number of the code reference within the turn. */
  readonly index: number;
  readonly verified: boolean;
  /** The lines are not those that the model wrote (N61). */
  readonly correction?: {
    /** As the model wrote it: `12:14:src/main.py`. */
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

/** A model request ended. */
export interface TurnEnd {
  readonly type: "turn_end";
  readonly finishReason: TurnFinishReason;
  /** The provider's own reason, or "". */
  readonly rawFinishReason: string;
  readonly usage: Usage;
  /** What the user should know of the request, for instance that the model has no such effort (C36). One sentence. */
  readonly notice?: Notice;
  /** Its text ends where the process that wrote it died; the next turn goes on. */
  readonly cut?: true;
  /** Who answered, if it is not the model of the run: a fallback (C59). */
  readonly model?: AnsweringModel;
  /** Milliseconds spent waiting for the model (C10 `duration_model_ms`). */
  readonly modelMs: number;
}

/** A model, as `run_start` describes that of the run. */
export interface AnsweringModel {
  /** Id used in the request. */
  readonly id: string;
  /** Display name. */
  readonly name: string;
  /** Its prices, if they are known. */
  readonly price?: TokenPrice;
}

/** The conversation was too long for the model: from here on, a summary replaces its older part. */
export interface Compaction {
  readonly type: "compaction";
  /** `window`: it was nearly full; `refused`: the provider refused a request as too long; `asked`: the user asked for it. */
  readonly reason: "window" | "refused" | "asked";
  /** Written by the model. */
  readonly summary: string;
  /** Number of messages at the end that stay unchanged. */
  readonly keptMessages: number;
  /** What the user's messages before those may take; the longest ones lose their middle. Absent: no limit. */
  readonly userTokens?: number;
  /** Tokens of what is left, estimated. */
  readonly tokens: number;
  /** Usage of the summary. */
  readonly usage: Usage;
  /** Who wrote it, as in `turn_end`. */
  readonly model?: AnsweringModel;
  /** The reason why it was needed, for the user. */
  readonly notice?: Notice;
  /** Milliseconds spent waiting for the model. */
  readonly modelMs: number;
}

/** The way a run failed. The code is from the closed table of the command line (C20). */
export interface RunError {
  readonly code: string;
  /** One line: what failed, with which value, and what to do (C21). */
  readonly message: string;
  /** N39: tool name, or `provider`, `agent`, `sandbox`, `user`, `server`, `storage`. */
  readonly source: string;
  /** More, or "". */
  readonly details: string;
  readonly retryable: boolean;
  /** RFC 3339, if a quota says when (C20). */
  readonly resetsAt?: string;
}

/** Last event of a response. */
export interface RunEnd {
  readonly type: "run_end";
  readonly reason: FinishReason;
  /** Present iff the response's status is `error` (N2). */
  readonly error?: RunError;
  /** The answer's value, if a schema was given and it fits. */
  readonly output?: unknown;
  /** The place where the run left its files, and what stayed undone at its end, one sentence each (C71). */
  readonly notices?: readonly Notice[];
}

/**
 * An event of a subagent, which a call of `run_agent` runs. It is wrapped so that nobody takes the words and calls of a
 * subagent for those of the run (S-151).
 */
export interface AgentEvent {
  readonly type: "agent_event";
  /** The call of `run_agent`. */
  readonly callId: string;
  /** As the run of the subagent wrote it: from its `run_start` to its `run_end`. */
  readonly event: OwnEventBody;
}

/** One event before it has a number and a time. */
export type RunEventBody = OwnEventBody | AgentEvent;

/** The same without those of subagents. */
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

/** One event of the log. */
export type RunEvent = RunEventBody & {
  /** From 1, without gaps, per response. */
  readonly seq: number;
  /** Milliseconds since 1970; never decreases within a run (C7). */
  readonly time: number;
};

export type RunEventType = RunEventBody["type"];

/** Events from the stream of a model; the others come from the run. */
export type ModelEvent =
  | TextDelta
  | ReasoningDelta
  | ProviderData
  | ProviderWait
  | ToolCallStart
  | ToolCallArgumentsDelta
  | ToolCallArguments
  /** Of a call that the provider runs. */
  | ToolResult
  | TurnEnd;
