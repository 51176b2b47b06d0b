/**
 * Groups of events as rows. What stays lies in `event_groups`, log by log. A server that writes many logs at once would
 * change a page of each of them with every transaction, so their small groups lie in `arrived_groups` first, one behind
 * the other, a few pages a transaction, and are taken to their places together.
 */
import type { RunEvent } from "@sheaf/protocol";
import type { SqliteConnection } from "./sqlite-connection.ts";
import type { Lease } from "./sqlite-leases.ts";

/** Groups that lie in the order of their arrival, at most: so many, and so many for each log that is written. */
const MAX_ARRIVED = 256;
const MAX_ARRIVED_OF_LOG = 16;

/** A larger group fills a page by itself, and saves nothing. UTF-16 units of JSON. */
const MAX_ARRIVED_LENGTH = 1024;

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

/** Undefined: there are none. */
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

/** Number of the last event of the response `r` of a statement. A log that has ended has nothing in `arrived_groups`. */
export const lastSeqOfResponse = `MAX(
  COALESCE((SELECT MAX(last_seq) FROM event_groups WHERE response = r.key), 0),
  CASE WHEN r.ended THEN 0 ELSE COALESCE((SELECT MAX(last_seq) FROM arrived_groups WHERE response = r.key), 0) END)`;

/** Whether a group may lie in the order of its arrival. */
export function isSmallGroup({ text, endsLog }: EncodedEvents): boolean {
  return !endsLog && text.length <= MAX_ARRIVED_LENGTH;
}

/** Writes a group to its place, or where it arrives. False: the lease was lost, and nothing is written. */
export function insertGroup(
  connection: SqliteConnection,
  table: "event_groups" | "arrived_groups",
  response: number,
  { firstSeq, lastSeq, text }: EncodedEvents,
  { conversation, fence }: Lease,
): boolean {
  const { changes } = connection
    .prepare(
      `INSERT INTO ${table} (response, first_seq, last_seq, events)
       SELECT ?, ?, ?, ? FROM conversations WHERE key = ? AND fence = ?`,
    )
    .run(response, firstSeq, lastSeq, text, conversation, fence);
  return changes > 0;
}

/** Takes all that has arrived to its place. Within a transaction. */
export function settleGroups(connection: SqliteConnection): void {
  connection
    .prepare(
      `INSERT INTO event_groups (response, first_seq, last_seq, events)
       SELECT response, first_seq, last_seq, events FROM arrived_groups ORDER BY response, first_seq`,
    )
    .run();
  connection.prepare("DELETE FROM arrived_groups").run();
}

/** The same for one response: what is wrong with another one is not its business. */
export function settleGroupsOf(connection: SqliteConnection, response: number): void {
  const { changes } = connection
    .prepare(
      `INSERT INTO event_groups (response, first_seq, last_seq, events)
       SELECT response, first_seq, last_seq, events FROM arrived_groups WHERE response = ? ORDER BY first_seq`,
    )
    .run(response);
  if (changes > 0) connection.prepare("DELETE FROM arrived_groups WHERE response = ?").run(response);
}

/** Whether so much has arrived that it should be taken to its place. `logs`: those that are written here. */
export function isMuchArrived(connection: SqliteConnection, logs: number): boolean {
  const row = connection.prepare("SELECT MAX(key) AS count FROM arrived_groups").get() as { count: number | null };
  return (row.count ?? 0) >= Math.max(MAX_ARRIVED, MAX_ARRIVED_OF_LOG * logs);
}

// Only the group that holds event `after` may hold more: the index finds it.
const selectSettled = `SELECT first_seq, events FROM event_groups
  WHERE response = ?1 AND last_seq > ?2 AND first_seq >= COALESCE(
    (SELECT MAX(first_seq) FROM event_groups WHERE response = ?1 AND first_seq <= ?2), 0)`;

const selectAll = `${selectSettled}
  UNION ALL SELECT first_seq, events FROM arrived_groups WHERE response = ?1 AND last_seq > ?2 ORDER BY first_seq`;

/** The groups of a response that hold events after `after`, and perhaps some before it, in order. */
export function readGroups(
  connection: SqliteConnection,
  responseId: string,
  owner: string,
  after: number,
): Iterable<{ readonly events: string }> {
  const response = connection
    .prepare(
      `SELECT r.key, r.ended FROM responses r JOIN conversations c ON c.key = r.conversation
       WHERE r.id = ? AND c.owner = ?`,
    )
    .get(responseId, owner) as { key: number; ended: number } | undefined;
  if (!response) return [];
  const sql = response.ended ? `${selectSettled} ORDER BY first_seq` : selectAll;
  return connection.prepare(sql).iterate(response.key, after) as Iterable<{ events: string }>;
}
