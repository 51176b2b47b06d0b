/** The memory of tools within a conversation; rebuilt from the log when it continues. */
import type { RunEvent, RunEventBody, TodoEffect, ApprovalOption, ApprovalRequest } from "@sheaf/protocol";

/** One entry of the task list, as tools know it. */
export type KnownTodo = TodoEffect["todos"][number];

export interface ToolState {
  /** The task list, in order (N41). */
  todos: readonly KnownTodo[];
  /** Revision of the newest plan; 0 if none exists (N40). */
  planRevision: number;
  /** SHA-256 of each file when a tool last read or wrote it, by absolute path: the guard against stale edits. */
  readonly fileHashes: Map<string, string>;
  /** SHA-256 of each file as a tool of this response left it, by absolute path; not rebuilt from the log. */
  readonly writtenHashes: Map<string, string>;
  /** Bytes of all attachments of tools' results. */
  attachedBytes: number;
  /** Approvals that apply to the conversation (X8). */
  readonly answers: StandingAnswers;
}

export function createToolState(): ToolState {
  return {
    todos: [],
    planRevision: 0,
    fileHashes: new Map(),
    writtenHashes: new Map(),
    attachedBytes: 0,
    answers: createStandingAnswers(),
  };
}

/** Applies todos, plans, changed files and standing answers, so that a resumed conversation continues with them. */
export function applyToState(state: ToolState, event: RunEvent): void {
  applyToAnswers(state.answers, event.type === "agent_event" ? event.event : event);
  if (event.type !== "tool_result") return;
  const { effect, attachments = [] } = event;
  state.attachedBytes += attachments.reduce((sum, { bytes }) => sum + bytes, 0);
  if (event.status !== "success") return;
  if (effect?.kind === "todo") state.todos = effect.todos;
  if (effect?.kind === "plan") {
    state.planRevision = effect.revision;
    state.todos = effect.todos;
  }
  if (effect?.kind === "read" && effect.hash !== undefined) state.fileHashes.set(effect.path, effect.hash);
  if (effect?.kind !== "file_edit") return;
  for (const change of effect.changes) {
    if (change.operation === "delete" || change.operation === "rename") state.fileHashes.delete(change.path);
    else if (change.hashAfter !== undefined) state.fileHashes.set(change.path, change.hashAfter);
  }
}

type Question = Pick<ApprovalRequest, "rules" | "toolHash" | "argumentsHash" | "options">;

/** A person's answers for the whole conversation (X8). Only the log has them, never the workspace (S-06). */
export interface StandingAnswers {
  /** Rules that the person allowed or rejected. */
  readonly allow: Set<string>;
  readonly deny: Set<string>;
  /** Hash of the server's tool for which the person allowed a rule, by rule. */
  readonly toolHashes: Map<string, string>;
  /** Hashes of calls that no rule describes. */
  readonly allowedCalls: Set<string>;
  readonly deniedCalls: Set<string>;
  /** Questions in the log without an answer so far, by approval. */
  readonly open: Map<string, Question>;
}

function createStandingAnswers(): StandingAnswers {
  const [allow, deny, allowedCalls, deniedCalls] = [
    new Set<string>(),
    new Set<string>(),
    new Set<string>(),
    new Set<string>(),
  ];
  return { allow, deny, toolHashes: new Map(), allowedCalls, deniedCalls, open: new Map() };
}

function applyToAnswers(answers: StandingAnswers, event: RunEventBody): void {
  if (event.type === "approval_request") answers.open.set(event.approvalId, event);
  if (event.type !== "approval_resolved") return;
  const question = answers.open.get(event.approvalId);
  if (!question) return;
  answers.open.delete(event.approvalId);
  const kind = question.options.find(({ id }) => id === event.optionId)?.kind;
  if (kind && !event.editedArguments) rememberAnswer(answers, kind, question);
}

/** Remembers an answer. A refusal of several rules does not reject each of them, so it applies to exactly that call. */
export function rememberAnswer(
  answers: StandingAnswers,
  kind: ApprovalOption["kind"],
  { rules, toolHash, argumentsHash }: Omit<Question, "options">,
): void {
  if (kind === "allow_always") {
    if (rules.length === 0) answers.allowedCalls.add(argumentsHash);
    for (const rule of rules) {
      answers.allow.add(rule);
      if (toolHash !== undefined) answers.toolHashes.set(rule, toolHash);
    }
  }
  if (kind === "reject_always") {
    if (rules.length === 1) answers.deny.add(rules[0]!);
    else answers.deniedCalls.add(argumentsHash);
  }
}
