/** Failures of runs in one line (C21). */
import { toVisibleLine } from "./visible-text.ts";

/** Returns `sheaf: <errorCode>: <what failed, with which value, what to do>` and a line end. */
export function formatFailureLine({ code, message }: { readonly code: string; readonly message: string }): string {
  return `sheaf: ${code}: ${toVisibleLine(message)}\n`;
}

/** Returns true if a failed run has a whole answer: Sheaf refused its commands (S-31), or it did not pass (C168). */
export function hasAnswer({ code }: { readonly code: string }): boolean {
  return code === "SANDBOX_UNAVAILABLE" || code === "VERIFY_FAILED";
}
