/** What stderr says when a command fails (C21). */
import { formatFailureLine } from "@sheaf/agent/output/failure-line";
import { toVisibleLine } from "@sheaf/agent/output/visible-text";
import type { CommandIo } from "./io.ts";

interface FailureReport {
  readonly code: string;
  readonly message: string;
  readonly details?: string;
}

/** One line: `sheaf: <errorCode>: <what failed, with which value, what to do>`; with `verbose` followed by the details. */
export function formatFailure({ code, message, details = "" }: FailureReport, verbose: boolean): string {
  const line = formatFailureLine({ code, message });
  return verbose && details !== "" ? `${line}${toVisibleLine(details)}\n` : line;
}

/** One line about something that is no failure, but that the user must see (C1, C15). */
export function formatNotice(message: string): string {
  return `sheaf: notice: ${toVisibleLine(message)}\n`;
}

/**
 * Tells on stderr why stdout takes no more; gives the exit code. A reader that went away (`| head -1`) knows that it did;
 * a full disk must be reported (C23).
 */
export function reportOutputError(
  { code, message: reason }: NodeJS.ErrnoException,
  verbose: boolean,
  { writeError }: Pick<CommandIo, "writeError">,
): number {
  if (code === "EPIPE") return 1;
  const message = `stdout takes no more (${code ?? reason}): free some space, or write elsewhere`;
  writeError(formatFailure({ code: "INTERNAL", message }, verbose));
  return 1;
}
