/** Persist, then deliver: numbers the events of a run, stores them, and only then hands them on. */
import type { RunEvent, RunEventBody } from "@sheaf/protocol";
import { toSheafError, type SheafError } from "../base/errors.ts";
import type { Store } from "../store/store.ts";
import type { EventGroup } from "./event-group.ts";

/** What the log of a run needs. */
export interface RunLogPorts {
  readonly store: Store;
  readonly responseId: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Called when the store fails; it must abort the run with that error as its reason. */
  readonly onStoreFailure: (error: SheafError) => void;
}

const deltaTypes: ReadonlySet<RunEventBody["type"]> = new Set([
  "text_delta",
  "reasoning_delta",
  "tool_call_arguments_delta",
  "tool_output_delta",
]);

/** Whether an event is a piece of something that goes on. */
export function isDelta(event: RunEventBody): boolean {
  return deltaTypes.has(event.type);
}

/**
 * Gives each group of a run with numbers and times, after it is stored.
 * When the store fails, the run is ended; its last events (results of open calls, `run_end`) are delivered all the same,
 * so that every reader learns why, and deltas that could not be stored are never shown.
 */
export async function* storeEvents(
  groups: AsyncIterable<EventGroup>,
  ports: RunLogPorts,
): AsyncGenerator<readonly RunEvent[]> {
  let seq = 0;
  let time = 0;
  let isStored = true;
  for await (const { events, durability } of groups) {
    const kept = isStored ? events : events.filter((event) => !deltaTypes.has(event.type));
    time = Math.max(time, ports.now());
    let numbered = numberEvents(kept, seq, time);
    if (isStored) {
      try {
        await ports.store.appendEvents(ports.responseId, numbered, durability);
      } catch (error) {
        isStored = false;
        numbered = numberEvents(
          events.filter((event) => !deltaTypes.has(event.type)),
          seq,
          time,
        );
        ports.onStoreFailure(toSheafError(error));
      }
    }
    seq += numbered.length;
    if (numbered.length > 0) yield numbered;
  }
}

function numberEvents(events: readonly RunEventBody[], seq: number, time: number): RunEvent[] {
  return events.map((event, index) => ({ ...event, seq: seq + index + 1, time }));
}
