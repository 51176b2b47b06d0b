/** What stderr says when a command fails (C21). */
import { toVisibleLine } from "../output/visible-text.ts";

interface FailureReport {
  readonly code: string;
  readonly message: string;
  readonly details?: string;
}

/** One line: `sheaf: <errorCode>: <what failed, with which value, what to do>`; with `verbose` the details behind it. */
export function formatFailure({ code, message, details = "" }: FailureReport, verbose: boolean): string {
  const line = `sheaf: ${code}: ${toVisibleLine(message)}\n`;
  return verbose && details !== "" ? `${line}${toVisibleLine(details)}\n` : line;
}
