/**
 * What responses and the events of their streams have in common. The readers of streams load this, and not the
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

/** `doc_` and the sequence number, at least three digits. */
export const documentId = s.string({ pattern: "^doc_\\d{3,}$" });

/** Whole milliseconds; a reader also takes fractions. */
export const milliseconds = s.number({ minimum: 0, multipleOf: 1 });

/** The result of a tool (R8, N36). */
export const toolCallResult = s.object({
  status: s.choice(["success", "error"]),
  /** The output of the tool; for errors `{errorCode, message}`. */
  data: s.anything(),
  /** Ext: `data` is a prefix (N36). */
  truncated: s.optional(s.literal(true)),
  /** Ext: bytes of the whole output (N36). */
  bytes: s.optional(count),
  /** Ext: places that rules left out of a search (S-243 of `security-reliability.md`). */
  denied: s.optional(count),
});

/** The result of a tool (R8, N36). */
export interface ToolCallResult extends s.ValueOf<typeof toolCallResult> {}

/** RFC 3339 with `Z` (N7). */
export const instant = s.string({
  format: "date-time",
  pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?Z$",
});

export const mode = s.choice(["agent", "plan", "ask", "debug"]);

/** R2. */
export type Mode = s.ValueOf<typeof mode>;

export const effort = s.choice(["off", "low", "medium", "high", "max"]);

/** How much the model thinks before it answers (X18). */
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

/** Ext: why a response ended (N2). */
export type FinishReason = s.ValueOf<typeof finishReason>;

export const usage = s.object({
  promptTokens: count,
  /** Reasoning tokens included (N6). */
  completionTokens: count,
  /** `promptTokens + completionTokens` (N6). */
  totalTokens: count,
  /** Ext (N6). */
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
  /** As it was configured; shortened. */
  command: s.string(),
  passed: s.boolean(),
  /** 124 on a timeout, -1 if it never started (N37). */
  exitCode: s.integer(),
  /** Number of times that it ran before: 0 if it ran once. */
  rounds: count,
});

/** Ext: the last result of a command that decides whether the run has succeeded (C168). */
export interface Verification extends s.ValueOf<typeof verification> {}

export const responseMetadata = s.object({
  /** From `created` to the end, including waits for approvals (N7). */
  duration_ms: milliseconds,
  /** Documents of type `tool_call` (N4). */
  toolCallCount: count,
  /** Model requests, without retries (N5). */
  turnCount: count,
  /** Ext: tool executions of every kind (N4). */
  actionCount: s.optional(count),
  /** Ext: what the newest request and its answer took together, so what the next one begins with (N6). */
  contextTokensUsed: s.optional(count),
  /** Ext: part of `duration_ms` spent waiting for approvals (N7). */
  waiting_ms: s.optional(milliseconds),
  /** Ext (N2). */
  finishReason: s.optional(finishReason),
  /** Ext: what the user should know of the model, for instance that it lacks the effort (N63). */
  notices: s.optional(s.list<Notice>(notice)),
  /** Ext: the commands that decide whether the run succeeds; absent if none ran (C168). */
  verify: s.optional(s.list<Verification>(verification)),
  /** Ext: what Sheaf refused; only if it refused something (C166). */
  refusals: s.optional(s.list<Refusal>(refusal)),
  /** Ext: the sandbox in which commands run, as in `run_start` (C166). */
  sandbox: s.optional(s.string()),
  /** Ext: US dollars, if each model request has a price and a count of tokens (C166). */
  costUsd: s.optional(s.number({ minimum: 0 })),
  /** Ext: the last event included in this snapshot; only while streaming (N3). */
  lastEventId: s.optional(count),
});

/** R2. */
export interface ResponseMetadata extends s.ValueOf<typeof responseMetadata> {}

export const hookReport = s.object({
  /** When it ran, by the names of Claude Code: `PreToolUse`, `Stop`, … */
  event: s.string(),
  /** Whose it is. */
  origin: s.choice(["user", "workspace"]),
  /** `failed`: it did not run to its end, or its answer is not understood. */
  status: s.choice(["success", "failed"]),
  /** 124 on a timeout, -1 if it never started (N37). */
  exitCode: s.integer(),
  /** `block`: refused the call or the prompt, objected to the result, or had the answer go on; `ask`: a person must agree; `end`: ended the run. */
  decision: s.optional(s.growingChoice(["block", "ask", "end"])),
  /** Of the decision, in its words. */
  reason: s.optional(s.string()),
  /** By what it replaced the arguments of the call. */
  arguments: s.optional(s.record(s.anything())),
  /** It told the model something. */
  informed: s.optional(s.literal(true)),
  /** Of the call that it ran for. */
  documentId: s.optional(documentId),
  /** The last document that had started before; 0: none. */
  after: count,
});

/** Ext: what a hook did (N106). */
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
  /** What the user said. */
  message: s.string(),
  /** `chat_<id>` under which it waited at a server. */
  messageId: s.optional(s.string()),
  /** Files that went with it, without their bytes (N66). */
  attachments: s.optional(s.list<AttachmentSummary>(attachmentSummary)),
  /** The last document that had started before; 0: none. */
  after: count,
});

/** Ext: what the user added while the response ran (C240). */
export interface AddedMessage extends s.ValueOf<typeof addedMessage> {}

const approvalOption = s.object({
  id: s.string(),
  label: s.string(),
  kind: s.growingChoice(["allow_once", "allow_always", "reject_once", "reject_always"]),
  /** Ext: of "always", the rules that it applies to; empty: exactly this call (X45). */
  rules: s.optional(s.list(s.string())),
});

/** Ext (X8). */
export interface ApprovalOption extends s.ValueOf<typeof approvalOption> {}

export const approvalReason = s.object({
  /**
   * `no_rule`: no rule allows it; `not_covered`: a rule for this program leaves out a word of the command;
   * `not_readable`: no rule can judge the command; `not_comparable`: a rule may be about it; `ask_rule`: a rule asks;
   * `unclear_repository`, `untrusted_repository`: git might work, or would work, in a repository that is not trusted;
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

/** Ext: why a call needs a person, for programs that say it in their own language (X34). */
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
  /** Ext (X34). */
  reason: s.optional<ApprovalReason>(approvalReason),
  /** Ext: the subagent that asks (X58). */
  agent: s.optional(s.string()),
  /** What is asked about, with fields of its own by type. */
  subject: s.open(s.object({ type: approvalSubjectType })),
  options: s.list<ApprovalOption>(approvalOption),
  /** RFC 3339 with `Z`. */
  expiresAt: instant,
  /** Ext: the only place for an answer (C231). */
  answeredIn: s.optional(approvalPlace),
});

/** Ext: a question to a person (X8). */
export interface ApprovalRequestData extends s.ValueOf<typeof approvalRequest> {}
