/** Errors as the log keeps them. */
import { toWellFormed } from "@sheaf/documents/text";
import type { ProviderWait, RunEnd, RunError, RunEvent, RunStart } from "@sheaf/protocol";
import { SheafError, toSheafError } from "@sheaf/base/errors";

/** The last event of a run that failed. */
export function toRunFailure(error: SheafError): RunEnd {
  return { type: "run_end", reason: toFinishReason(error), error: toRunError(error) };
}

function toFinishReason(error: SheafError): RunEnd["reason"] {
  if (error.code === "CANCELLED") return "cancelled";
  if (error.code === "MAX_TOKENS") return "max_tokens";
  if (error.code === "REFUSED" || error.code === "CONTENT_FILTER") return "refusal";
  return error.code.startsWith("BUDGET_") ? "budget" : "error";
}

function toRunError(value: unknown): RunError {
  const error = toSheafError(value);
  return {
    code: error.code,
    message: error.message,
    source: error.source,
    details: error.details,
    retryable: error.retryable,
    ...(error.resetsAt !== undefined && { resetsAt: error.resetsAt }),
  };
}

/** The reason why a run was aborted. `wait`: the wait for another try, if the abort preceded an answer. */
export function toAbortReason(signal: AbortSignal, wait?: ProviderWait): SheafError {
  const reason: unknown = signal.reason;
  if (reason instanceof SheafError) {
    if (reason.code !== "BUDGET_TIME" || !wait) return reason;
    const [what] = reason.message.split(":", 1);
    const tries = wait.tries === 1 ? "once" : `${wait.tries} times`;
    const failure = `${wait.code}${wait.message === undefined ? "" : `: ${wait.message}`}`;
    return reason.withMessage(`${what}, in which the model failed ${tries}, last with ${failure}`);
  }
  return new SheafError("CANCELLED", "the run was cancelled", { source: "user" });
}

/** The log of a run that could not start: its prompt and its failure. */
export function createFailedRun(start: Omit<RunStart, "type">, error: unknown, time: number): readonly RunEvent[] {
  return [
    { type: "run_start", ...start, seq: 1, time },
    { ...toWellFormed(toRunFailure(toSheafError(error))), seq: 2, time },
  ];
}
