/** A tool's expected failure as an outcome. */
import type { ToolOutcome } from "./tool.ts";

/** The model sees code and message; the message says what failed, with which value, and what to do. */
export function toFailure(code: string, message: string, details = ""): ToolOutcome {
  return { status: "error", output: "", error: { code, message, details } };
}
