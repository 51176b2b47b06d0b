/** The losses of a run, from its log: missing parts of its surroundings, and which losses end the run (S-31, C180). */
import type { NoticeCode, OwnEventBody, RunEnd, RunEventBody, RunStart } from "@sheaf/protocol";
import { readNotices, toServerNotices } from "@sheaf/protocol";
import { type ErrorCode, SheafError } from "@sheaf/base/errors";
import { toRunFailure } from "./run-failure.ts";

export interface Losses {
  /** Takes every event of the run, including the events of its subagents. */
  push(event: RunEventBody): void;
  /** The failure by the first loss; undefined without `--strict`, or without a loss. */
  readonly failure: RunEnd | undefined;
  /**
   * Replaces the end of a run by the failure, if there is one: with `--strict` by its first loss, otherwise if Sheaf
   * refused all its commands because no sandbox works. The answer stays.
   */
  toEnd(end: RunEnd): RunEnd;
}

/** The notices that are losses, and the error of each. */
const lossCodes: Readonly<Partial<Record<NoticeCode, ErrorCode>>> = {
  SANDBOX_UNAVAILABLE: "SANDBOX_UNAVAILABLE",
  SERVER_NOT_STARTED: "SETUP_INCOMPLETE",
  HOOK_NOT_RUN: "SETUP_INCOMPLETE",
  HOOK_FAILED: "SETUP_INCOMPLETE",
  SETUP_FAILED: "SETUP_INCOMPLETE",
};

/** Calls that Sheaf refused because a run lacks this. */
const lackCodes = { sandbox: "SANDBOX_UNAVAILABLE", permission: "PERMISSION_REQUIRED" } as const;

/** The errors of commands that never started. */
const unstarted: ReadonlySet<string> = new Set(["PERMISSION_DENIED", "COMMAND_NOT_STARTED"]);

/** The loss that an event records; undefined: none. */
export function findLoss(event: OwnEventBody): SheafError | undefined {
  if (event.type === "tool_result" && event.lacks) return toError(lackCodes[event.lacks], event.error?.message ?? "");
  const found = [...readNotices(event), ...(event.type === "run_start" ? toServerNotices(event) : [])];
  const notice = found.find(({ code }) => lossCodes[code] !== undefined);
  return notice && toError(lossCodes[notice.code]!, notice.message);
}

function toError(code: ErrorCode, message: string): SheafError {
  return new SheafError(code, message, { source: code === "SANDBOX_UNAVAILABLE" ? "sandbox" : "agent" });
}

/** `agentName`: of a subagent, whose own end stays, because the run that called it fails. */
export function createLosses({ strict }: Pick<RunStart, "strict">, agentName?: string): Losses {
  let first: SheafError | undefined;
  let refused: SheafError | undefined;
  let hasRun = false;
  const pushOwn = (event: OwnEventBody): void => {
    if (strict) first ??= findLoss(event);
    if (event.type !== "tool_result") return;
    if (event.lacks === "sandbox") refused ??= findLoss(event);
    // A run that another machine continues may find a sandbox there.
    if (event.effect?.kind === "command" && !unstarted.has(event.error?.code ?? "")) hasRun = true;
  };
  return {
    push: (event) => pushOwn(event.type === "agent_event" ? event.event : event),
    get failure() {
      return first && toRunFailure(first);
    },
    toEnd(end) {
      const error = first ?? (hasRun ? undefined : refused);
      if (agentName !== undefined || end.reason !== "end_turn" || !error) return end;
      const failure = toRunFailure(error);
      return "output" in end ? { ...failure, output: end.output } : failure;
    },
  };
}
