/** Shows the readers of all streams that their connections live (X5). */
import type { EventSink } from "./event-sink.ts";

export interface Heartbeat {
  /** Beats for a reader until its stream is over. */
  add(sink: EventSink): void;
  close(): void;
}

/** One timer for all streams. */
export function createHeartbeat(everyMs: number): Heartbeat {
  const sinks = new Set<EventSink>();
  const timer = setInterval(() => {
    for (const sink of sinks) sink.beat();
  }, everyMs);
  timer.unref();
  return {
    add(sink) {
      sinks.add(sink);
      sink.closed.addEventListener("abort", () => sinks.delete(sink), { once: true });
    },
    close: () => clearInterval(timer),
  };
}
