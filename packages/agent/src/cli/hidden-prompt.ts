/** A question on the terminal whose answer is not shown. */
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { SheafError } from "../base/errors.ts";

/** Asks on stderr, reads one line of stdin without showing it. @throws SheafError CANCELLED for Ctrl-C and Ctrl-D. */
export async function readHiddenLine(question: string): Promise<string> {
  // Readline edits the line in raw mode, in which only readline itself would show it: into nothing.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true, historySize: 0 });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  // From here on the terminal shows nothing by itself.
  process.stderr.write(question);
  lines.once("line", resolve);
  lines.once("close", () => reject(new SheafError("CANCELLED", "cancelled at the prompt", { source: "user" })));
  try {
    return await promise;
  } finally {
    lines.close();
    process.stderr.write("\n");
  }
}
