/** Exit code and stderr, from the last event of the log: what the last line says too (section 2). */
import { errorTable, isErrorCode } from "@sheaf/base/errors";
import type { Delivery } from "./deliver.ts";
import type { CommandIo } from "./io.ts";
import { formatFailure, reportOutputError } from "./report-error.ts";
import { stuckReaderCode } from "./standard-output.ts";

interface ReportOptions {
  readonly verbose: boolean;
  readonly io: Pick<CommandIo, "profile" | "writeError">;
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
  const { profile, writeError } = io;
  // After a signal a reader that takes nothing is expected: the signal ended the run (C23).
  const isStuck = outputError?.code === stuckReaderCode && signalCode !== undefined;
  if (outputError && !isStuck) return reportOutputError(outputError, verbose, io);
  if (isStuck && !end?.error) {
    const message = "cancelled by a signal, after the run, while stdout took nothing";
    writeError(formatFailure({ code: "CANCELLED", message }, verbose));
    return signalCode;
  }
  if (end?.error) {
    const isInterrupted = end.error.code === "CANCELLED" && signalCode !== undefined;
    // What clients of that program look for (C30).
    if (isInterrupted && profile === "cursor-2026") writeError("Aborting operation...\n");
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
