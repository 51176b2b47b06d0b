/** Persist, then deliver: numbers the events of a run, stores them, and only then passes them on. */
import { toWellFormed } from "@sheaf/documents/text";
import type { RunEvent, RunEventBody } from "@sheaf/protocol";
import { type SheafError, toSheafError } from "@sheaf/base/errors";
import type { Durability, Store } from "@sheaf/store/store";
import { toClosingEvents } from "./conversations/end-cut-response.ts";

export interface RunLogPorts {
  readonly store: Store;
  readonly responseId: string;
  /** The last event of a log that continues; undefined for an empty log. */
  readonly last?: Pick<RunEvent, "seq" | "time"> | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Called when the store fails; it must abort the run with that error as its reason. */
  readonly onStoreFailure: (error: SheafError) => void;
  /** Another process, or a later look of this one, ends the log: readers get no end that it does not have. */
  readonly endsElsewhere?: boolean | undefined;
}

const deltaTypes: ReadonlySet<RunEventBody["type"]> = new Set([
  "text_delta",
  "reasoning_delta",
  "tool_call_arguments_delta",
  "tool_output_delta",
]);

/** True if an event is a piece of something longer. */
function isDelta(event: RunEventBody): boolean {
  return deltaTypes.has(event.type === "agent_event" ? event.event.type : event.type);
}

export interface RunLog {
  /**
   * Returns the events of a group with numbers and times, after they are stored. If the store fails, this and every
   * later group is empty. Unless the log ends elsewhere, the last group is then the end: a result for each call without
   * one in the log, and a `run_end` with the store's failure, after `run_start` if that could not be stored.
   */
  append(group: EventGroup): Promise<readonly RunEvent[]>;
}

export function createRunLog(ports: RunLogPorts): RunLog {
  const { store, responseId, last, now, onStoreFailure, endsElsewhere = false } = ports;
  let seq = last?.seq ?? 0;
  let time = last?.time ?? 0;
  let failure: SheafError | undefined;
  /** The `run_start` that could not be stored: every output needs it. */
  let start: readonly RunEventBody[] = [];

  /** Ends the log for its readers. They have all that this run stored; another process may have added to it. */
  const endUnstored = async (error: SheafError, end: RunEventBody): Promise<readonly RunEvent[]> => {
    let stored: readonly RunEvent[] = [];
    try {
      stored = await store.readEvents(responseId);
    } catch {
      // Then the end alone must do.
    }
    const told = stored.filter((event) => event.seq <= seq);
    const closing = toClosingEvents(told, { cause: "the store failed", error });
    const notices = "notices" in end && { notices: end.notices };
    const noted = closing.map((event) => (event.type === "run_end" ? { ...event, ...notices } : event));
    return numberEvents([...start, ...noted], seq, time);
  };

  return {
    async append({ events, durability }) {
      time = Math.max(time, now());
      if (!failure) {
        const numbered = numberEvents(events, seq, time);
        try {
          await store.appendEvents(responseId, numbered, durability);
          seq += numbered.length;
          return numbered;
        } catch (error) {
          failure = toSheafError(error);
          start = events.filter(({ type }) => type === "run_start");
          onStoreFailure(failure);
        }
      }
      const end = events.find(({ type }) => type === "run_end");
      return end && !endsElsewhere ? endUnstored(failure, end) : [];
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
 * Joins groups, and keeps the events and their order. It reads ahead only past deltas: it passes any other group on,
 * and waits until that is stored before it continues, because the next events may have effects.
 */
export function readAhead(groups: AsyncIterable<EventGroup>): AsyncIterable<EventGroup> {
  return { [Symbol.asyncIterator]: () => new ReadAhead(groups[Symbol.asyncIterator]()) };
}

class ReadAhead implements AsyncIterator<EventGroup> {
  readonly #source: AsyncIterator<EventGroup>;
  #deltas: EventGroup["events"][number][] = [];
  /** The event after the deltas; the reader stops there. */
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
