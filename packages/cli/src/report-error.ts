/** Lines on stderr: failures (C21), and missing parts of a run such as MCP servers (S-87) or an effort (C36). */
import type { RunFacts } from "@sheaf/documents/run-summary";
import { formatFailureLine } from "@sheaf/agent/output/failure-line";
import { toVisibleLine } from "@sheaf/agent/output/visible-text";
import type { CommandIo } from "./io.ts";
import { readNotices, toServerNotices, type Notice, type RunStart } from "@sheaf/protocol";

interface FailureReport {
  readonly code: string;
  readonly message: string;
  readonly details?: string;
}

/** Formats `sheaf: <errorCode>: <what failed, with which value, what to do>`; with `verbose`, details follow. */
export function formatFailure({ code, message, details = "" }: FailureReport, verbose: boolean): string {
  const line = formatFailureLine({ code, message });
  return verbose && details !== "" ? `${line}${toVisibleLine(details)}\n` : line;
}

/** Formats a notice that isn't a failure, but that the user must see (C1, C15). */
export function formatNotice(message: string): string {
  return `sheaf: notice: ${toVisibleLine(message)}\n`;
}

/**
 * Reports on stderr why stdout accepts no more output; returns the exit code. A reader that went away (`| head -1`)
 * needs no report, but a full disk does (C23).
 */
export function reportOutputError(
  { code, message: reason }: NodeJS.ErrnoException,
  verbose: boolean,
  { writeError }: Pick<CommandIo, "writeError">,
): number {
  if (code === "EPIPE") return 1;
  const message = `stdout accepts no more output (${code ?? reason}): free some space, or write to another file`;
  writeError(formatFailure({ code: "INTERNAL", message }, verbose));
  return 1;
}

/** Reports differences from the caller's request on stderr, a line each (C43), except those in `seen`. */
export function reportNotices(notices: readonly Notice[], seen: Set<string>, write: (text: string) => void): void {
  for (const { message } of notices) {
    if (!seen.has(message)) write(formatNotice(message));
    seen.add(message);
  }
}

/** Reports omissions and verifications of a run, a line each (C15, C168), without the lines of its `failure`. */
export function reportFacts(
  { refusals = [], notices = [], verify = [] }: RunFacts["told"],
  failure: string | undefined,
  seen: Set<string>,
  write: (text: string) => void,
): void {
  reportNotices(
    notices.filter(({ message }) => message !== failure),
    seen,
    write,
  );
  for (const { command } of failure === undefined ? verify : []) write(`sheaf: verified: ${toVisibleLine(command)}\n`);
  for (const { tool, reason } of refusals)
    if (reason !== failure) write(`sheaf: refused: ${toVisibleLine(`${tool}: ${reason}`)}\n`);
}

/** Reports notices on a terminal's stderr, a line each (C15), except those in `seen`. */
export function createNoticeReport(seen: Set<string>, write: (text: string) => void) {
  const report = ({ message }: Notice): void => {
    if (seen.has(message)) return;
    seen.add(message);
    write(`${toVisibleLine(`sheaf: ${message}`)}\n`);
  };
  return {
    report,
    reportStart: (start: RunStart): void => [...readNotices(start), ...toServerNotices(start)].forEach(report),
  };
}
