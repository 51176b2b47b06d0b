/** Groups of events of one log, as stores keep them: each is one row. */
import type { RunEvent } from "@sheaf/protocol";

/** Events as they are stored: one row. */
export interface EncodedEvents {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly count: number;
  /** The last one is `run_end`. */
  readonly endsLog: boolean;
  /** Ids of messages that waited, and that the response now has (C240). */
  readonly told: readonly string[];
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
    told: events.flatMap((event) => (event.type === "user_message" ? (event.messageId ?? []) : [])),
    text: JSON.stringify(events),
  };
}

/** The events after number `after` of groups in their order. @throws SyntaxError for a group that is damaged. */
export function decodeEvents(groups: readonly { readonly events: string }[], after: number): readonly RunEvent[] {
  return groups.flatMap(({ events }) => (JSON.parse(events) as RunEvent[]).filter(({ seq }) => seq > after));
}

/** The user's text in the group that begins a log. Undefined: it is another group, or it is damaged. */
export function findPrompt(group: string): string | undefined {
  try {
    const [first] = JSON.parse(group) as readonly RunEvent[];
    return first?.type === "run_start" ? first.prompt : undefined;
  } catch {
    return undefined;
  }
}
