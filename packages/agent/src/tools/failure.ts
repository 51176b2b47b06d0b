/** Outcomes of tools that did not do their work. */
import type { ToolError } from "@sheaf/protocol";
import type { ToolOutcome } from "./tool.ts";

/** The message is one line: what failed, with which value, what to do. The model sees it. */
export function toFailure(code: string, message: string): ToolOutcome {
  return toFailedOutcome({ code, message, details: "" });
}

/** `output` is what helps the model beyond the one line of the error, for instance the nearest place in a file. */
export function toFailedOutcome(error: ToolError, output = error.details): ToolOutcome {
  return { status: "error", output, error };
}

/** The run ended before the tool did (N36). */
export function toCancelledOutcome(message = "the run was cancelled during this call"): ToolOutcome {
  return { status: "cancelled", output: "", error: { code: "CANCELLED", message, details: "" } };
}
