/** Exit code and stderr, from the last event of the log: what the last line says too (section 2). */
import { errorTable, isErrorCode } from "@sheaf/base/errors";
import type { Delivery } from "./deliver.ts";
import type { CommandIo } from "./io.ts";
import { formatFailure, reportOutputError } from "./report-error.ts";
import { stuckReaderCode } from "./standard-output.ts";

interface ReportOptions {
  readonly verbose: boolean;
  readonly io: Pick<CommandIo, "dialect" | "writeError">;
  /** Stdout of a failure names no session, so that stderr does (C21). */
  readonly namesSession?: boolean;
  /** In place of stderr: to a person, to whom questions are put at once. */
  readonly write?: ((text: string) => void) | undefined;
}

/** Tells on stderr how the run ended; gives the exit code. `signalCode`: that of the signal that ended it. */
export function reportEnd(
  { session, end, outputError }: Delivery,
  signalCode: number | undefined,
  { verbose, io, namesSession = false, write }: ReportOptions,
): number {
  const { dialect, writeError } = io;
  // A signal or a timeout ended the run, whatever the reader did (C23).
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
    // What clients of that program look for (C30).
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
