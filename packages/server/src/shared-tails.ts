/** Logs of responses that run elsewhere: one reader of the store for each, for all its listeners. */
import type { Store } from "@sheaf/store/store";
import { createLogReader } from "./log-reader.ts";
import { ResponseChannel, type WireOptions } from "./response-channel.ts";

/** Interval between looks at a log: in a store that notices changes, and in others. Milliseconds. */
const WATCHED_MS = 2000;
const POLL_MS = 250;

/** A growing log, for readers who have caught up. */
export interface Tail {
  /** Closed when the response has ended or was deleted, the store fails, or the last reader has left. */
  readonly channel: ResponseChannel;
  /** Resolves once the channel has this event. Resolves with false if the channel closes first. */
  reach(seq: number): Promise<boolean>;
  /** Leaves the log; each reader that opened it calls this once. */
  leave(): void;
}

/** Creates a table without logs. */
export function createSharedTails(wire: WireOptions) {
  const tails = new Map<string, SharedTail>();
  return {
    /** Opens the log of a response that the owner of the store may see. */
    open(responseId: string, store: Store): Tail {
      const found = tails.get(responseId);
      if (found && !found.isOver) {
        found.enter();
        return found;
      }
      const tail = new SharedTail(responseId, store, wire);
      tails.set(responseId, tail);
      tail.enter();
      void tail.follow().finally(() => {
        if (tails.get(responseId) === tail) tails.delete(responseId);
      });
      return tail;
    },
    /** Number of logs that are being followed. */
    get size(): number {
      return tails.size;
    },
  };
}

export type SharedTails = ReturnType<typeof createSharedTails>;

class SharedTail implements Tail {
  readonly channel: ResponseChannel;
  /** True if no reader may join. */
  isOver = false;
  readonly #responseId: string;
  readonly #store: Store;
  readonly #waiting = new Set<{ readonly seq: number; readonly resolve: (isThere: boolean) => void }>();
  #readers = 0;
  #hasChanged = false;
  #wake: (() => void) | undefined;

  constructor(responseId: string, store: Store, wire: WireOptions) {
    this.#responseId = responseId;
    this.#store = store;
    this.channel = new ResponseChannel(wire);
  }

  enter(): void {
    this.#readers += 1;
  }

  leave(): void {
    this.#readers -= 1;
    if (this.#readers === 0) this.#noteChange();
  }

  reach(seq: number): Promise<boolean> {
    if (this.isOver || this.channel.lastSeq >= seq) return Promise.resolve(!this.isOver);
    return new Promise((resolve) => void this.#waiting.add({ seq, resolve }));
  }

  /** Reads until the log or its readers end. Never rejects: readers connect again after their stream breaks. */
  async follow(): Promise<void> {
    const endWatch = this.#store.watchResponse(this.#responseId, () => this.#noteChange());
    try {
      await this.#readOn(this.#store.cluster ? WATCHED_MS : POLL_MS);
    } catch {
      // The next request of a reader gets the error of the store.
    } finally {
      this.isOver = true;
      endWatch();
      this.channel.close();
      this.#tell();
    }
  }

  async #readOn(restMs: number): Promise<void> {
    const reader = createLogReader(this.#store, this.#responseId);
    do {
      // The next read finds a change that arrives during this read.
      this.#hasChanged = false;
      const lastSeq = reader.lastSeq;
      for (let page = await reader.read(); page; page = reader.hasEnded ? undefined : await reader.read()) {
        this.channel.push(page);
        this.#tell();
      }
      if (reader.hasEnded) return;
      await this.#rest(restMs);
      const isQuiet = !this.#hasChanged && reader.lastSeq === lastSeq;
      if (isQuiet && !(await this.#store.getResponse(this.#responseId))) return;
    } while (this.#readers > 0);
    this.isOver = true;
  }

  #noteChange(): void {
    this.#hasChanged = true;
    this.#wake?.();
  }

  /** Waits for a change. An abort signal would cost two errors with stacks each time. */
  async #rest(milliseconds: number): Promise<void> {
    if (this.#hasChanged) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const timer = setTimeout(resolve, milliseconds);
    await promise;
    clearTimeout(timer);
  }

  #tell(): void {
    for (const waiting of this.#waiting) {
      if (!this.isOver && this.channel.lastSeq < waiting.seq) continue;
      this.#waiting.delete(waiting);
      waiting.resolve(this.channel.lastSeq >= waiting.seq);
    }
  }
}
