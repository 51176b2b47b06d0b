/** Text of a command that is no run, on stdout. */
import { createLineOutput } from "./standard-output.ts";

/**
 * Writes the text; gives the exit code: 1 without a word for a reader that went away (C23).
 * @throws the error of any other stdout that takes no more.
 */
export async function printText(text: string): Promise<number> {
  try {
    await createLineOutput(1).write(text);
    return 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EPIPE") return 1;
    throw error;
  }
}
