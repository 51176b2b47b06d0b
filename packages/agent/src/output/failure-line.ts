/** How a run failed, in one line (C21). */
import { toVisibleLine } from "./visible-text.ts";

/** `sheaf: <errorCode>: <what failed, with which value, what to do>` and a line end. */
export function formatFailureLine({ code, message }: { readonly code: string; readonly message: string }): string {
  return `sheaf: ${code}: ${toVisibleLine(message)}\n`;
}

/** Whether a failed run has a whole answer all the same: the model ended it, but its commands were refused (S-31). */
export function hasAnswer({ code }: { readonly code: string }): boolean {
  return code === "SANDBOX_UNAVAILABLE";
}
