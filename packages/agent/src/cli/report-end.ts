/** Exit code and stderr, from the last event of the log: what the last line says too (section 2). */
import { errorTable, isErrorCode } from "../errors.ts";
import type { Profile } from "../output/profile.ts";
import type { Delivery } from "./deliver.ts";
import { formatFailure } from "./report-error.ts";

/** Tells on stderr how the run ended; gives the exit code. `signalCode`: that of the signal that ended it. */
export function reportEnd(
  { end, outputError }: Delivery,
  signalCode: number | undefined,
  { verbose, profile }: { readonly verbose: boolean; readonly profile: Profile },
): number {
  if (outputError) {
    // A reader that went away (`| head -1`) knows that it did; a full disk must be told (C23).
    if (outputError.code === "EPIPE") return 1;
    const message = `stdout takes no more (${outputError.code ?? outputError.message}): free some space, or write elsewhere`;
    process.stderr.write(formatFailure({ code: "INTERNAL", message }, verbose));
    return 1;
  }
  if (end?.error) {
    const isInterrupted = end.error.code === "CANCELLED" && signalCode !== undefined;
    // What clients of that program look for (C30).
    if (isInterrupted && profile === "cursor-2026") process.stderr.write("Aborting operation...\n");
    process.stderr.write(formatFailure(end.error, verbose));
    if (isInterrupted) return signalCode;
    return isErrorCode(end.error.code) ? errorTable[end.error.code].exitCode : 1;
  }
  if (end?.reason === "clarification") {
    const message = "the agent asks, the questions are in the output: answer with sheaf answer SESSION";
    process.stderr.write(formatFailure({ code: "NEEDS_INPUT", message }, verbose));
    return errorTable.NEEDS_INPUT.exitCode;
  }
  return 0;
}
