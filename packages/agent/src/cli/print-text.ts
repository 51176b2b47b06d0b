/** Text of a command that is no run, on stdout. */
import { reportOutputError } from "./report-error.ts";
import { createLineOutput } from "./standard-output.ts";

/** Writes the text; gives the exit code: 1 for a stdout that takes no more (C23). */
export async function printText(text: string): Promise<number> {
  try {
    await createLineOutput(1).write(text);
    return 0;
  } catch (error) {
    return reportOutputError(error as NodeJS.ErrnoException, false);
  }
}
