/** A group of events of one log, as stores keep it: one row. */
import type { RunEvent } from "@sheaf/protocol";

/** Events as they are stored: one row. */
export interface EncodedEvents {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly count: number;
  /** The last one is `run_end`. */
  readonly endsLog: boolean;
  /** A JSON array. */
  readonly text: string;
}

/** Undefined if there are no events. */
export function encodeEvents(events: readonly RunEvent[]): EncodedEvents | undefined {
  const [first] = events;
  const last = events.at(-1);
  if (!first || !last) return undefined;
  return {
    firstSeq: first.seq,
    lastSeq: last.seq,
    count: events.length,
    endsLog: last.type === "run_end",
    text: JSON.stringify(events),
  };
}
