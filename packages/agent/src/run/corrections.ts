/** The note about code references whose lines the run corrected (N61). */
import type { ReferenceCheck, RunEventBody } from "@sheaf/protocol";

export interface Corrections {
  push(event: RunEventBody): void;
  /** The note on corrections since the last call; undefined without any. */
  take(): string | undefined;
}

/** References that a note lists. */
const maxShown = 10;

export function createCorrections(): Corrections {
  let waiting: NonNullable<ReferenceCheck["correction"]>[] = [];
  return {
    push(event) {
      if (event.type === "reference_check" && event.correction) waiting.push(event.correction);
    },
    take() {
      if (waiting.length === 0) return undefined;
      const shown = waiting.slice(0, maxShown).map(({ quoted, startLine, endLine }) => {
        return `${JSON.stringify(quoted)} is at ${startLine}:${endLine}`;
      });
      waiting = [];
      return `Line numbers of your code references were wrong, and have been corrected for the user: ${shown.join("; ")}.`;
    },
  };
}
