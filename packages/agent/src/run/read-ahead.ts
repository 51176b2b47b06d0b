/** Deltas that come while others are being stored become one group: the group grows with the load, by itself. */
import type { EventGroup } from "./event-group.ts";
import { isDelta } from "./run-log.ts";

/** Events that may wait. */
const MAX_WAITING = 256;

/**
 * The same events in the same order, in fewer groups. Only deltas are read ahead: everything else is handed on, and
 * nothing behind it is asked for before it was stored, since what follows may have effects.
 */
export function readAhead(groups: AsyncIterable<EventGroup>): AsyncIterable<EventGroup> {
  return { [Symbol.asyncIterator]: () => new ReadAhead(groups[Symbol.asyncIterator]()) };
}

class ReadAhead implements AsyncIterator<EventGroup> {
  readonly #source: AsyncIterator<EventGroup>;
  #deltas: EventGroup["events"][number][] = [];
  /** What stands behind the deltas, and is not read past. */
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

  /** Reads until there is something that must be stored first. */
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
