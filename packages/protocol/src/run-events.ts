/**
 * The run log: the one closed union that a run writes and every format is made from.
 * A run appends these events in order; nothing is printed, stored or sent that is not a pure function of them.
 */
import type { TokenPrice } from "./cost.ts";
import type { ClarificationAnswer, FinishReason, Mode, Usage } from "./chat.ts";
import type {
  ClarificationQuestion,
  CommandPermission,
  DocumentType,
  FileDiff,
  FileOperation,
  PlanTodo,
  TodoChange,
  TodoStatus,
} from "./documents.ts";
import type { ApprovalRequestData, ApprovalResolvedData } from "./stream-events.ts";

/** First event of a response. */
export interface RunStart {
  readonly type: "run_start";
  /** `chat_<uuid>`; the uuid is the `request_id` of the command line (C10). */
  readonly responseId: string;
  /** `conv_<uuid>`; the uuid is the `session_id` of the command line (C5, C14). */
  readonly conversationId: string;
  readonly mode: Mode;
  /** Id used in the request to the provider (N7). */
  readonly model: string;
  /** Display name (C5). */
  readonly modelName: string;
  /** C5; `none` where the model needs no key. */
  readonly apiKeySource: "env" | "flag" | "login" | "none";
  /** Workspace root: absolute, links resolved (C5). */
  readonly workspace: string;
  /** C5. */
  readonly permissionMode: "default" | "plan" | "ask" | "force";
  /** Whether commands run in a sandbox (C5). */
  readonly sandbox: "enabled" | "disabled" | "unavailable";
  /** Whether the workspace is trusted (S-03). */
  readonly trusted: boolean;
  readonly sheafVersion: string;
  /** What the model costs, where the user said so. */
  readonly price?: TokenPrice;
  /** What the user wrote. */
  readonly prompt: string;
  /** Answers to the questions of the response before (N42). */
  readonly answers?: readonly ClarificationAnswer[];
}

/** A model request begins. */
export interface TurnStart {
  readonly type: "turn_start";
  /** From 1 (N5). */
  readonly turn: number;
  /** What the run tells the model before this turn, for instance what was wrong with its answer. */
  readonly note?: string;
}

/** Model text, exactly as it came. */
export interface TextDelta {
  readonly type: "text_delta";
  readonly text: string;
}

/** Model reasoning; never part of the answer (N14, C12). */
export interface ReasoningDelta {
  readonly type: "reasoning_delta";
  readonly text: string;
}

/** The document that a tool call becomes; goes by what the tool does (N28). */
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
  /** `{}` when they did not parse (N30). */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** What the model wrote, when it did not parse (N30). */
  readonly rawArguments?: string;
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
  /** What the tool gave; the model sees it, and it is `data` of the document (N36). */
  readonly output: string;
  /** What was cut or is worth knowing; the model sees it behind the output. */
  readonly note?: string;
  /** `output` is not all of it (N36). */
  readonly truncated?: true;
  /** Bytes of the whole output, when truncated (N36). */
  readonly bytes?: number;
  /** There iff status is not success. */
  readonly error?: ToolError;
  /** What happened, for projections. May be there for errors too, as far as it went. */
  readonly effect?: ToolEffect;
  readonly durationMs: number;
}

/** What a tool did, by kind; the projections make C9's shapes and the documents from it. */
export type ToolEffect =
  | ReadEffect
  | FileEditEffect
  | CommandEffect
  | SearchEffect
  | GlobEffect
  | ListEffect
  | TodoEffect
  | PlanEffect
  | QuestionEffect;

/** read_file. `output` holds the content that was read. */
export interface ReadEffect {
  readonly kind: "read";
  /** Absolute. */
  readonly path: string;
  readonly isEmpty: boolean;
  /** The file is larger than what was read. */
  readonly exceededLimit: boolean;
  /** Of the whole file, the empty tail counted: "a\nb\n" has 3 (C9). */
  readonly totalLines: number;
  /** UTF-16 units of the whole file. */
  readonly totalChars: number;
  /** Bytes. */
  readonly fileSize: number;
  /** 1-based, included; 0 for an empty file. */
  readonly startLine: number;
  readonly endLine: number;
}

/** One file that a tool changed. */
export interface FileChange {
  readonly operation: FileOperation;
  /** As the documents show it: relative to the workspace with `/` (N21). */
  readonly filePath: string;
  /** Absolute. */
  readonly path: string;
  /** Destination of a rename, relative (N32). */
  readonly newFilePath?: string;
  /** New content of the whole file (create), or the new string (edit); null for delete, rename and binary. */
  readonly content: string | null;
  /** Edit only (N31). */
  readonly diff?: FileDiff;
  /** Unified diff. */
  readonly patch?: string;
  /** Edit only: the whole file after it, unless it is above the limit. */
  readonly after?: string;
  readonly linesAdded: number;
  readonly linesRemoved: number;
  /** Bytes of the file after the change; of the file that was deleted. */
  readonly bytes: number;
  readonly binary?: true;
  readonly truncated?: true;
  /** SHA-256, hex, before and after; absent where there was no file. */
  readonly hashBefore?: string;
  readonly hashAfter?: string;
}

/** write_file, edit_file, delete_file, rename_file. */
export interface FileEditEffect {
  readonly kind: "file_edit";
  readonly changes: readonly FileChange[];
  /** Edit only: which matching rule found each place, for instance `exact`. */
  readonly matched?: readonly string[];
}

/** run_terminal_cmd. `output` holds stdout and stderr in order of arrival. */
export interface CommandEffect {
  readonly kind: "command";
  readonly command: string;
  /** Absolute. */
  readonly workingDirectory: string;
  /** N37. */
  readonly exitCode: number;
  /** Name such as SIGTERM, or "". */
  readonly signal: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
  readonly background: boolean;
  readonly permissions: readonly CommandPermission[];
}

/** grep_search. */
export interface SearchEffect {
  readonly kind: "search";
  readonly matches: readonly {
    readonly path: string;
    readonly lines: readonly { readonly line: number; readonly text: string }[];
  }[];
  readonly totalFiles: number;
  readonly totalMatches: number;
  readonly truncated: boolean;
}

/** glob_search. */
export interface GlobEffect {
  readonly kind: "glob";
  readonly files: readonly string[];
  readonly totalFiles: number;
  readonly truncated: boolean;
}

/** list_dir. `output` holds the tree. */
export interface ListEffect {
  readonly kind: "list";
}

/** todo_write. */
export interface TodoEffect {
  readonly kind: "todo";
  /** What changed (N41). */
  readonly changes: readonly TodoChange[];
  /** The whole list after it. */
  readonly todos: readonly {
    readonly id: string;
    readonly content: string;
    readonly status: TodoStatus;
    readonly dependencies: readonly string[];
  }[];
}

/** create_plan. */
export interface PlanEffect {
  readonly kind: "plan";
  readonly title: string;
  readonly overview: string;
  readonly plan: string;
  readonly todos: readonly PlanTodo[];
  readonly planId: string;
  readonly revision: number;
}

/** ask_question. Ends the response (N42). */
export interface QuestionEffect {
  readonly kind: "question";
  readonly title: string;
  readonly questions: readonly ClarificationQuestion[];
}

/** A person is asked whether a call may run (X8). */
export interface ApprovalRequest extends Omit<ApprovalRequestData, "documentId"> {
  readonly type: "approval_request";
  readonly callId: string;
}

/** X8. */
export interface ApprovalResolved extends ApprovalResolvedData {
  readonly type: "approval_resolved";
}

/** Whether the lines that the model quoted stand in the file (N22). Comes before the delta that closes the fence. */
export interface ReferenceCheck {
  readonly type: "reference_check";
  /** 0-based number of the code reference within the turn. */
  readonly index: number;
  readonly verified: boolean;
}

/** Why a model request ended. */
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
  /** The provider's own word, or "". */
  readonly rawFinishReason: string;
  readonly usage: Usage;
  /** Milliseconds spent waiting for the model (C10 `duration_model_ms`). */
  readonly modelMs: number;
}

/** How a run failed. The code is from the closed table of the command line (C20). */
export interface RunError {
  readonly code: string;
  /** One line: what failed, with which value, what to do (C21). */
  readonly message: string;
  /** N39: tool name, or `provider`, `agent`, `sandbox`, `user`, `server`. */
  readonly source: string;
  /** More, or "". */
  readonly details: string;
  readonly retryable: boolean;
  /** RFC 3339, where a quota tells (C20). */
  readonly resetsAt?: string;
}

/** Last event of a response. */
export interface RunEnd {
  readonly type: "run_end";
  readonly reason: FinishReason;
  /** There iff the response's status is `error` (N2). */
  readonly error?: RunError;
  /** The answer's value, where a schema was asked for and it fits. */
  readonly output?: unknown;
}

/** One event before it has a number and a time. */
export type RunEventBody =
  | RunStart
  | TurnStart
  | TextDelta
  | ReasoningDelta
  | ToolCallStart
  | ToolCallArgumentsDelta
  | ToolCallArguments
  | ToolOutputDelta
  | ToolResult
  | ApprovalRequest
  | ApprovalResolved
  | ReferenceCheck
  | TurnEnd
  | RunEnd;

/** One event of the log. */
export type RunEvent = RunEventBody & {
  /** From 1, without gaps, per response. */
  readonly seq: number;
  /** Milliseconds since 1970, never falling within a run (C7). */
  readonly time: number;
};

export type RunEventType = RunEventBody["type"];

/** Events that a model's stream makes; the rest comes from the run. */
export type ModelEvent =
  | TextDelta
  | ReasoningDelta
  | ToolCallStart
  | ToolCallArgumentsDelta
  | ToolCallArguments
  | TurnEnd;
