/** `--output-last-message FILE`: the final message of a run in a file (C171). */
import { resolve } from "node:path";
import type { RunEvent } from "@sheaf/protocol";
import { errorTable, toSheafError } from "@sheaf/base/errors";
import { createTextProjection } from "@sheaf/agent/output/text";
import type { CommandIo } from "./io.ts";
import { writeOutputFile } from "./output-file.ts";
import { formatFailure } from "./report-error.ts";

export interface LastMessage {
  readonly push: (events: readonly RunEvent[]) => void;
  /** Writes the file whole or not at all; without a message, it's empty. Takes and returns the exit code. */
  readonly write: (code: number) => number;
}

/** Creates the writer; undefined without a file. */
export function createLastMessage(
  file: string | undefined,
  io: Pick<CommandIo, "cwd" | "writeError">,
): LastMessage | undefined {
  if (file === undefined) return undefined;
  const projection = createTextProjection({ locale: "en", showsActions: false });
  let text = "";
  return {
    push(events) {
      for (const event of events) {
        text += projection.push(event.type === "run_end" ? withoutError(event) : event).join("");
      }
    },
    write(code) {
      try {
        writeOutputFile(resolve(io.cwd, file), text);
        return code;
      } catch (thrown) {
        // A failed run has its line on stderr already (C21).
        if (code !== 0) return code;
        const error = toSheafError(thrown);
        io.writeError(formatFailure(error, false));
        return errorTable[error.code].exitCode;
      }
    },
  };
}

/** Removes the error, so that a failed run has a message as well, as far as the model wrote one. */
function withoutError({ error: _error, ...end }: Extract<RunEvent, { type: "run_end" }>): RunEvent {
  return end;
}
