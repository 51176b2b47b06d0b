/** Persist, then deliver: numbers the events of a run, stores them, and only then passes them on. */
import { toWellFormed } from "@sheaf/documents/text";
import type { RunEvent, RunEventBody } from "@sheaf/protocol";
import { type SheafError, toSheafError } from "../base/errors.ts";
import type { Durability, Store } from "../store/store.ts";

/** What the log of a run needs. */
export interface RunLogPorts {
  readonly store: Store;
  readonly responseId: string;
  /** The last event of a log that goes on; undefined: it is empty. */
  readonly last?: Pick<RunEvent, "seq" | "time"> | undefined;
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

/** Whether an event is a piece of something longer. */
function isDelta(event: RunEventBody): boolean {
  return deltaTypes.has(event.type === "agent_event" ? event.event.type : event.type);
}

/** The log of one response. */
export interface RunLog {
  /**
   * Yields the events of a group with numbers and times, after they are stored.
   * If the store fails, the run is ended; its last events (results of open calls, `run_end`) are still yielded, so that
   * every reader learns why. Deltas that could not be stored are never yielded, and once another process has taken the
   * response over, its `run_end` alone: readers get the rest from the log that goes on.
   */
  append(group: EventGroup): Promise<readonly RunEvent[]>;
}

/** An empty log. */
export function createRunLog({ store, responseId, last, now, onStoreFailure }: RunLogPorts): RunLog {
  let seq = last?.seq ?? 0;
  let time = last?.time ?? 0;
  let isStored = true;
  let isLost = false;
  return {
    async append({ events, durability }) {
      time = Math.max(time, now());
      if (isStored) {
        const numbered = numberEvents(events, seq, time);
        try {
          await store.appendEvents(responseId, numbered, durability);
          seq += numbered.length;
          return numbered;
        } catch (error) {
          isStored = false;
          isLost = toSheafError(error).code === "CONVERSATION_BUSY";
          onStoreFailure(toSheafError(error));
        }
      }
      const kept = numberEvents(
        events.filter((event) => (isLost ? event.type === "run_end" : !isDelta(event))),
        seq,
        time,
      );
      seq += kept.length;
      return kept;
    },
  };
}

function numberEvents(events: readonly RunEventBody[], seq: number, time: number): RunEvent[] {
  return events.map((event, index) => ({ ...toWellFormed(event), seq: seq + index + 1, time }));
}

export interface EventGroup {
  readonly events: readonly RunEventBody[];
  readonly durability: Durability;
}

/** Events that may wait. */
const MAX_WAITING = 256;

/**
 * The same events in the same order, in fewer groups. Only deltas are read ahead: everything else is passed on, and
 * nothing after it is read before it is stored, because what follows may have effects.
 */
export function readAhead(groups: AsyncIterable<EventGroup>): AsyncIterable<EventGroup> {
  return { [Symbol.asyncIterator]: () => new ReadAhead(groups[Symbol.asyncIterator]()) };
}

class ReadAhead implements AsyncIterator<EventGroup> {
  readonly #source: AsyncIterator<EventGroup>;
  #deltas: EventGroup["events"][number][] = [];
  /** The event after the deltas, beyond which nothing is read. */
  #barrier: IteratorResult<EventGroup> | { readonly error: unknown } | undefined;
  #isReading = false;
  #wake: (() => void) | undefined;

  constructor(source: AsyncIterator<EventGroup>) {
    this.#source = source;
  }

  async next(): Promise<IteratorResult<EventGroup>> {
    if (this.#deltas.length === 0 && !this.#barrier) {
      void this.#read();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#deltas.length > 0) {
      const events = this.#deltas;
      this.#deltas = [];
      if (!this.#barrier) void this.#read();
      return { value: { events, durability: "grouped" }, done: false };
    }
    const barrier = this.#barrier!;
    if ("error" in barrier) throw barrier.error;
    this.#barrier = barrier.done ? barrier : undefined;
    return barrier;
  }

  async return(): Promise<IteratorResult<EventGroup>> {
    await this.#source.return?.();
    return { value: undefined, done: true };
  }

  /** Reads until an event must be stored first. */
  async #read(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (!this.#barrier && this.#deltas.length < MAX_WAITING) {
        const step = await this.#source.next();
        if (!step.done && step.value.durability === "grouped" && step.value.events.every(isDelta)) {
          this.#deltas.push(...step.value.events);
        } else {
          this.#barrier = step;
        }
        this.#wake?.();
      }
    } catch (error) {
      this.#barrier = { error };
      this.#wake?.();
    } finally {
      this.#isReading = false;
    }
  }
}
