/**
 * Parts that responses share with the events of their streams. Readers of streams load this module without the
 * documents. Clauses: docs/formats/documents.md.
 */
import type { AttachmentSummary } from "./attachments.ts";
import { notice, refusal, type Notice, type Refusal } from "./notices.ts";
import * as s from "./schema.ts";

/** The document types; a closed list (R3, N13). */
export const documentTypes = [
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
] as const;

export type DocumentType = (typeof documentTypes)[number];

export const documentType = s.growingChoice(documentTypes);

const count = s.integer({ minimum: 0 });

/** Id of a document: `doc_` and the sequence number, at least three digits. */
export const documentId = s.string({ pattern: "^doc_\\d{3,}$" });

/** Whole milliseconds; a reader also accepts fractions. */
export const milliseconds = s.number({ minimum: 0, multipleOf: 1 });

/** Schema of a tool's result (R8, N36). */
export const toolCallResult = s.object({
  status: s.choice(["success", "error"]),
  /** The output of the tool; for errors `{errorCode, message}`. */
  data: s.anything(),
  /** Ext: true if `data` is a prefix of the output (N36). */
  truncated: s.optional(s.literal(true)),
  /** Ext: bytes of the whole output (N36). */
  bytes: s.optional(count),
  /** Ext: number of places that rules hid from a search (S-243 of `security-reliability.md`). */
  denied: s.optional(count),
});

/** The result of a tool (R8, N36). */
export interface ToolCallResult extends s.ValueOf<typeof toolCallResult> {}

/** Time in RFC 3339 with `Z` (N7). */
export const instant = s.string({
  format: "date-time",
  pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?Z$",
});

export const mode = s.choice(["agent", "plan", "ask", "debug"]);

/** Mode of a response (R2). */
export type Mode = s.ValueOf<typeof mode>;

export const effort = s.choice(["off", "low", "medium", "high", "max"]);

/** Amount of thinking before the model's answer (X18). */
export type Effort = s.ValueOf<typeof effort>;

export const finishReason = s.growingChoice([
  "end_turn",
  "clarification",
  "refusal",
  "cancelled",
  "max_tokens",
  "budget",
  "error",
]);

/** Ext: the reason why a response ended (N2). */
export type FinishReason = s.ValueOf<typeof finishReason>;

export const usage = s.object({
  promptTokens: count,
  /** Tokens of the answer, including reasoning (N6). */
  completionTokens: count,
  /** The sum of both, `promptTokens + completionTokens` (N6). */
  totalTokens: count,
  /** Ext: part of `completionTokens` that is reasoning (N6). */
  reasoningTokens: s.optional(count),
  /** Ext: part of `promptTokens` read from the provider's cache (N6). */
  cachedPromptTokens: s.optional(count),
  /** Ext: part of `promptTokens` written to the provider's cache. */
  cacheWriteTokens: s.optional(count),
  /** Ext: true if the provider sent no usage (N6). */
  estimated: s.optional(s.literal(true)),
});

/** Sum over all model requests of the response (N6). */
export interface Usage extends s.ValueOf<typeof usage> {}

export const verification = s.object({
  /** The command in the configuration; shortened. */
  command: s.string(),
  passed: s.boolean(),
  /** Exit code: 124 after a timeout, -1 if the command never started (N37). */
  exitCode: s.integer(),
  /** Number of earlier runs of the command: 0 if it ran once. */
  rounds: count,
});

/** Ext: the last result of a command that decides if the run succeeds (C168). */
export interface Verification extends s.ValueOf<typeof verification> {}

export const responseMetadata = s.object({
  /** Time from `created` to the end, including waits for approvals (N7). */
  duration_ms: milliseconds,
  /** Number of documents of type `tool_call` (N4). */
  toolCallCount: count,
  /** Number of model requests, without retries (N5). */
  turnCount: count,
  /** Ext: tool executions of every kind (N4). */
  actionCount: s.optional(count),
  /** Ext: tokens of the newest request and its answer, which the next request includes (N6). */
  contextTokensUsed: s.optional(count),
  /** Ext: part of `duration_ms` spent waiting for approvals (N7). */
  waiting_ms: s.optional(milliseconds),
  /** Ext: the reason why the response ended (N2). */
  finishReason: s.optional(finishReason),
  /** Ext: notes for the user, for instance that the model lacks the effort (N63). */
  notices: s.optional(s.list<Notice>(notice)),
  /** Ext: the commands that decide if the run succeeds; absent if none ran (C168). */
  verify: s.optional(s.list<Verification>(verification)),
  /** Ext: the calls and actions that Sheaf refused; absent if it refused none (C166). */
  refusals: s.optional(s.list<Refusal>(refusal)),
  /** Ext: the sandbox of the commands, as in `run_start` (C166). */
  sandbox: s.optional(s.string()),
  /** Ext: US dollars, if each model request has a price and a count of tokens (C166). */
  costUsd: s.optional(s.number({ minimum: 0 })),
  /** Ext: id of the last event in this snapshot; only while streaming (N3). */
  lastEventId: s.optional(count),
});

/** Metadata of a response (R2). */
export interface ResponseMetadata extends s.ValueOf<typeof responseMetadata> {}

export const hookReport = s.object({
  /** The moment when the hook ran, named as in Claude Code: `PreToolUse`, `Stop`, … */
  event: s.string(),
  /** The configuration that has the hook: the user's, or the workspace's. */
  origin: s.choice(["user", "workspace"]),
  /** Outcome of the hook: `failed` if it didn't run to its end, or Sheaf doesn't understand its answer. */
  status: s.choice(["success", "failed"]),
  /** Exit code: 124 after a timeout, -1 if the hook never started (N37). */
  exitCode: s.integer(),
  /**
   * The hook's decision. `block` refused the call or the prompt, objected to the result, or made the answer continue;
   * `ask` needs a person's approval; `end` ended the run.
   */
  decision: s.optional(s.growingChoice(["block", "ask", "end"])),
  /** The hook's reason for the decision. */
  reason: s.optional(s.string()),
  /** Arguments by which the hook replaced those in the call. */
  arguments: s.optional(s.record(s.anything())),
  /** True if the hook sent the model a text. */
  informed: s.optional(s.literal(true)),
  /** Document of the call that the hook ran for. */
  documentId: s.optional(documentId),
  /** Number of the last document that had started before; 0: the hook ran first. */
  after: count,
});

/** Ext: the run of a hook (N106). */
export interface HookReport extends s.ValueOf<typeof hookReport> {}

export const mediaType = s.choice([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "application/pdf",
  "text/plain",
]);

export const attachmentSummary = s.object({
  name: s.string(),
  mediaType,
  bytes: s.integer({ minimum: 0 }),
  sha256: s.string(),
});

export const addedMessage = s.object({
  /** The user's message. */
  message: s.string(),
  /** Id of the message while it waited at a server: `chat_<id>`. */
  messageId: s.optional(s.string()),
  /** Files of the message, without their bytes (N66). */
  attachments: s.optional(s.list<AttachmentSummary>(attachmentSummary)),
  /** Number of the last document that had started before; 0: the message was first. */
  after: count,
});

/** Ext: a message that the user added while the response ran (C240). */
export interface AddedMessage extends s.ValueOf<typeof addedMessage> {}

const approvalOption = s.object({
  id: s.string(),
  label: s.string(),
  kind: s.growingChoice(["allow_once", "allow_always", "reject_once", "reject_always"]),
  /** Ext: the rules that "always" applies to. Empty means exactly this call (X45). */
  rules: s.optional(s.list(s.string())),
});

/** Ext: an answer that a person can choose (X8). */
export interface ApprovalOption extends s.ValueOf<typeof approvalOption> {}

export const approvalReason = s.object({
  /**
   * Code of the reason. `no_rule`: no rule allows the call. `not_covered`: a rule for the program lacks a word of the
   * command. `not_readable`: rules can't judge the command. `not_comparable`: a rule may apply. `ask_rule`: a rule
   * asks. `unclear_repository`, `untrusted_repository`: git may work, or would work, in an untrusted repository.
   * `server_question`: a tool server asks for an answer, and no call waits for permission (X59).
   */
  code: s.growingChoice([
    "no_rule",
    "not_covered",
    "not_readable",
    "not_comparable",
    "ask_rule",
    "unclear_repository",
    "untrusted_repository",
    "server_question",
  ]),
  /** The host or the tool without a rule, or the rules. */
  value: s.optional(s.string()),
});

/** Ext: the reason why a call needs a person, for programs that show it in their own language (X34). */
export interface ApprovalReason extends s.ValueOf<typeof approvalReason> {}

export const approvalSubjectType = s.growingChoice(["command", "file_edit", "tool_call", "server_question"]);

/** The program that asks a person where the response runs. The Chat API can't answer such an approval. */
export const approvalPlace = s.growingChoice(["terminal", "editor", "program"]);

export type ApprovalPlace = s.ValueOf<typeof approvalPlace>;

export const approvalRequest = s.object({
  approvalId: s.string(),
  documentId,
  title: s.string(),
  /** The reason as an English sentence. */
  description: s.string(),
  /** Ext: the reason as a code (X34). */
  reason: s.optional<ApprovalReason>(approvalReason),
  /** Ext: the subagent that asks (X58). */
  agent: s.optional(s.string()),
  /** The subject of the question; each type has its own fields. */
  subject: s.open(s.object({ type: approvalSubjectType })),
  options: s.list<ApprovalOption>(approvalOption),
  /** End of the approval's time in RFC 3339 with `Z`. */
  expiresAt: instant,
  /** Ext: the only place for an answer (C231). */
  answeredIn: s.optional(approvalPlace),
});

/** Ext: a question to a person (X8). */
export interface ApprovalRequestData extends s.ValueOf<typeof approvalRequest> {}
