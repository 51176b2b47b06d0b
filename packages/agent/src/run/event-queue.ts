/** Events of tasks that run side by side, on their way into the log. */
import type { RunEventBody } from "@sheaf/protocol";
import type { EventGroup } from "./event-group.ts";

export interface EventQueue {
  /** Takes an event. Resolves when it is stored and delivered. */
  push(event: RunEventBody): Promise<void>;
  /** Gives what is taken, as it comes, until `isEnded` says so and nothing is left. `push` or `wake` after a change. */
  drain(isEnded: () => boolean): AsyncGenerator<EventGroup>;
}

/** An empty queue. Results and answers are stored to the disk, the rest in groups. */
export function createEventQueue(): EventQueue {
  let waiting: RunEventBody[] = [];
  let stored = Promise.withResolvers<void>();
  let arrival = Promise.withResolvers<void>();

  return {
    push(event) {
      waiting.push(event);
      arrival.resolve();
      return stored.promise;
    },
    async *drain(isEnded) {
      while (!isEnded() || waiting.length > 0) {
        if (waiting.length === 0) await arrival.promise;
        arrival = Promise.withResolvers<void>();
        const events = waiting;
        const { resolve } = stored;
        waiting = [];
        stored = Promise.withResolvers<void>();
        const isSynced = events.some(({ type }) => type === "tool_result" || type === "approval_resolved");
        yield { events, durability: isSynced ? "synced" : "grouped" };
        resolve();
      }
    },
  };
}
