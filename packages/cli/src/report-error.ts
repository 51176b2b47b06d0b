/** Lines on stderr: failures (C21), and what a run goes without, such as MCP servers (S-87) or an effort (C36). */
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

/** One line each on stderr, whatever it is, about what differs from what the caller asked for (C43); `seen` as below. */
export function reportNotices(notices: readonly Notice[], seen: Set<string>, write: (text: string) => void): void {
  for (const { message } of notices) {
    if (!seen.has(message)) write(formatNotice(message));
    seen.add(message);
  }
}

/** One line each on stderr: what a run did not do, without what the line of its failure shows, and what verified it (C15, C168). */
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

/** One line each on stderr, which must be a terminal (C15); `seen` has those that were told before. */
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
