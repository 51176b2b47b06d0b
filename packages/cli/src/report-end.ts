/** Reports the end of a run by exit code and on stderr, from the log's last event (section 2). */
import { errorTable, isErrorCode } from "@sheaf/base/errors";
import type { Delivery } from "./deliver.ts";
import type { CommandIo } from "./io.ts";
import { formatFailure, reportOutputError } from "./report-error.ts";
import { stuckReaderCode } from "./standard-output.ts";

interface ReportOptions {
  readonly verbose: boolean;
  readonly io: Pick<CommandIo, "dialect" | "writeError">;
  /** True if stdout has no session id after a failure, so that stderr has it (C21). */
  readonly namesSession?: boolean;
  /** Replaces stderr, for a user who answers questions at once. */
  readonly write?: ((text: string) => void) | undefined;
}

/** Reports a run's end on stderr; returns the exit code. `signalCode`: exit code of the signal that ended it. */
export function reportEnd(
  { session, end, outputError }: Delivery,
  signalCode: number | undefined,
  { verbose, io, namesSession = false, write }: ReportOptions,
): number {
  const { dialect, writeError } = io;
  // A signal or a timeout ended the run, even if the reader was stuck (C23).
  const isStuck = outputError?.code === stuckReaderCode;
  if (outputError && !isStuck) return reportOutputError(outputError, verbose, io);
  if (isStuck && !end?.error) {
    const [code, message] =
      signalCode === undefined
        ? (["BUDGET_TIME", "stdout took nothing until the end of --timeout: read it, or raise --timeout"] as const)
        : (["CANCELLED", "cancelled by a signal, after the run, while stdout took nothing"] as const);
    writeError(formatFailure({ code, message }, verbose));
    return signalCode ?? errorTable[code].exitCode;
  }
  if (end?.error) {
    const isInterrupted = end.error.code === "CANCELLED" && signalCode !== undefined;
    // Clients of that program look for this line (C30).
    if (isInterrupted && dialect.cancelLine) writeError(dialect.cancelLine);
    const suffix = namesSession && session !== undefined ? ` (session ${session})` : "";
    const line = formatFailure({ ...end.error, message: end.error.message + suffix }, verbose);
    (write ?? writeError)(line);
    if (isInterrupted) return signalCode;
    return isErrorCode(end.error.code) ? errorTable[end.error.code].exitCode : 1;
  }
  if (end?.reason === "clarification") {
    const message = `the agent asked questions (see the output): answer with sheaf answer ${session} QUESTION=ANSWER`;
    if (!write) writeError(formatFailure({ code: "NEEDS_INPUT", message }, verbose));
    return errorTable.NEEDS_INPUT.exitCode;
  }
  return 0;
}
