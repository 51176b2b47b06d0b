/** Outcomes of file tools that did not do their work. */
import type { ToolError } from "@sheaf/protocol";
import type { ToolOutcome } from "./tool.ts";

/** `output` is what helps the model beyond the one line of the error, for instance the nearest place in a file. */
export function toFailedOutcome(error: ToolError, output = error.details): ToolOutcome {
  return { status: "error", output, error };
}

/** The run ended before the tool did (N36). */
export function toCancelledOutcome(): ToolOutcome {
  const error: ToolError = { code: "CANCELLED", message: "the run was cancelled during this call", details: "" };
  return { status: "cancelled", output: "", error };
}
