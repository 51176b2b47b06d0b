/** Errors as the log keeps them. */
import { toWellFormed } from "@sheaf/documents/text";
import type { RunEnd, RunError, RunEvent, RunStart } from "@sheaf/protocol";
import { SheafError, errorTable, toSheafError } from "@sheaf/base/errors";

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

/** An error as the log keeps it. */
function toRunError(value: unknown): RunError {
  const error = toSheafError(value);
  return {
    code: error.code,
    message: error.message,
    source: error.source,
    details: error.details,
    retryable: errorTable[error.code].retryable,
    ...(error.resetsAt !== undefined && { resetsAt: error.resetsAt }),
  };
}

/** Why a run was aborted. */
export function toAbortReason(signal: AbortSignal): SheafError {
  const reason: unknown = signal.reason;
  if (reason instanceof SheafError) return reason;
  return new SheafError("CANCELLED", "the run was cancelled", { source: "user" });
}

/** Two events: the prompt, and why it failed. */
export function createFailedRun(start: Omit<RunStart, "type">, error: unknown, time: number): readonly RunEvent[] {
  return [
    { type: "run_start", ...start, seq: 1, time },
    { ...toWellFormed(toRunFailure(toSheafError(error))), seq: 2, time },
  ];
}
