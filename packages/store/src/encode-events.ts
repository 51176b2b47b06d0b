/** Groups of events of one log, each of which is one row in a store. */
import type { RunEvent } from "@sheaf/protocol";

/** A group of events as one row. */
export interface EncodedEvents {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly count: number;
  /** True if the last event is `run_end`. */
  readonly endsLog: boolean;
  /** Ids of messages that waited, and that the response now has (C240). */
  readonly told: readonly string[];
  /** The events as a JSON array. */
  readonly text: string;
}

/** Returns undefined for an empty list. */
export function encodeEvents(events: readonly RunEvent[]): EncodedEvents | undefined {
  const [first] = events;
  const last = events.at(-1);
  if (!first || !last) return undefined;
  return {
    firstSeq: first.seq,
    lastSeq: last.seq,
    count: events.length,
    endsLog: last.type === "run_end",
    told: events.flatMap((event) => (event.type === "user_message" ? (event.messageId ?? []) : [])),
    text: JSON.stringify(events),
  };
}

/** Returns the events after number `after` of groups in their order. @throws SyntaxError for a damaged group. */
export function decodeEvents(groups: readonly { readonly events: string }[], after: number): readonly RunEvent[] {
  return groups.flatMap(({ events }) => (JSON.parse(events) as RunEvent[]).filter(({ seq }) => seq > after));
}

/** Finds the user's text in the first group of a log. Returns undefined for other and for damaged groups. */
export function findPrompt(group: string): string | undefined {
  try {
    const [first] = JSON.parse(group) as readonly RunEvent[];
    return first?.type === "run_start" ? first.prompt : undefined;
  } catch {
    return undefined;
  }
}
