/** What a person answered for the whole conversation (X8). It lives in the log only, never in the workspace (S-06). */
import type { ApprovalOption, ApprovalRequest, RunEvent } from "@sheaf/protocol";

type Question = Pick<ApprovalRequest, "rules" | "argumentsHash" | "options">;

export interface StandingAnswers {
  /** Rules that were allowed, and that were rejected. */
  readonly allow: Set<string>;
  readonly deny: Set<string>;
  /** Hashes of calls that no rule describes. */
  readonly allowedCalls: Set<string>;
  readonly deniedCalls: Set<string>;
  /** Questions in the log without an answer so far, by approval. */
  readonly open: Map<string, Question>;
}

/** Nothing answered so far. */
export function createStandingAnswers(): StandingAnswers {
  return { allow: new Set(), deny: new Set(), allowedCalls: new Set(), deniedCalls: new Set(), open: new Map() };
}

/** Takes an event of the log over. */
export function applyToAnswers(answers: StandingAnswers, event: RunEvent): void {
  if (event.type === "approval_request") answers.open.set(event.approvalId, event);
  if (event.type !== "approval_resolved") return;
  const question = answers.open.get(event.approvalId);
  if (!question) return;
  answers.open.delete(event.approvalId);
  const kind = question.options.find(({ id }) => id === event.optionId)?.kind;
  if (kind && !event.editedArguments) rememberAnswer(answers, kind, question);
}

/** A refusal of several rules at once says nothing of each of them, so it holds for exactly that call. */
export function rememberAnswer(
  answers: StandingAnswers,
  kind: ApprovalOption["kind"],
  { rules, argumentsHash }: Pick<Question, "rules" | "argumentsHash">,
): void {
  if (kind === "allow_always") {
    if (rules.length === 0) answers.allowedCalls.add(argumentsHash);
    for (const rule of rules) answers.allow.add(rule);
  }
  if (kind === "reject_always") {
    if (rules.length === 1) answers.deny.add(rules[0]!);
    else answers.deniedCalls.add(argumentsHash);
  }
}
