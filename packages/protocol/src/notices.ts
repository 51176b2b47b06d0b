/** Notices: the limits and losses of a run that do not end it (C5, N63). One closed table of codes. */
import * as s from "./schema.ts";

/** Codes of notices, which C165 explains. */
export const noticeCodes = [
  "SANDBOX_UNAVAILABLE",
  "NOT_CONTAINED",
  "REVERT_UNAVAILABLE",
  "HOOK_NOT_RUN",
  "HOOK_FAILED",
  "HOOK_MESSAGE",
  "AGENT_CHANGED",
  "SETUP_FAILED",
  "COMMAND_UNKNOWN",
  "EFFORT_CHANGED",
  "MODEL_CHANGED",
  "STDIN_SKIPPED",
  "RESTRICTIONS_KEPT",
  "FLAG_IGNORED",
  "COMMAND_ENDED",
  "COMMITS_KEPT",
  "INSTRUCTIONS_UNTRUSTED",
  "GIT_HOOKS_OFF",
  "SERVER_NOT_STARTED",
  "USAGE_UNKNOWN",
  "TELEMETRY_LOST",
  "ANSWER_CUT",
  "CONTEXT_CUT",
  "TREE_BRANCH",
  "TREE_KEPT",
] as const;

export type NoticeCode = (typeof noticeCodes)[number];

export const notice = s.object({ code: s.growingChoice(noticeCodes), message: s.string() });

/** A code, and one sentence for the user. */
export interface Notice extends s.ValueOf<typeof notice> {}

export const refusal = s.object({
  /** Name of the tool in the log. */
  tool: s.string(),
  /** Reason in one line. */
  reason: s.string(),
  /** The rule that denies the call, if one does. */
  rule: s.optional(s.string()),
});

/** A call that Sheaf refused, or a part of a command that its sandbox refused (C166). */
export interface Refusal extends s.ValueOf<typeof refusal> {}
