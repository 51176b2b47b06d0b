/**
 * Groups of events as rows. Their final table is `event_groups`, ordered by log. A server that writes many logs at once
 * would change a page of each log in every transaction, so small groups are first appended to `arrived_groups`, a few
 * pages per transaction, and then settled: moved to `event_groups` together.
 */
import type { EncodedEvents } from "./encode-events.ts";
import type { SqliteConnection } from "./sqlite-connection.ts";
import type { Lease } from "./sqlite-leases.ts";

/** Most arrived groups before they are settled: in all, or per open log, whichever is more. */
const MAX_ARRIVED = 256;
const MAX_ARRIVED_OF_LOG = 16;

/** A larger group fills a page by itself, so arriving first would save nothing. UTF-16 units of JSON. */
const MAX_ARRIVED_LENGTH = 1024;

/** Number of the response `r`'s last event, in SQL. `arrived_groups` has no rows of an ended log. */
export const lastSeqOfResponse = `MAX(
  COALESCE((SELECT MAX(last_seq) FROM event_groups WHERE response = r.key), 0),
  CASE WHEN r.ended THEN 0 ELSE COALESCE((SELECT MAX(last_seq) FROM arrived_groups WHERE response = r.key), 0) END)`;

/** True if a group may go to `arrived_groups`. */
export function isSmallGroup({ text, endsLog }: EncodedEvents): boolean {
  return !endsLog && text.length <= MAX_ARRIVED_LENGTH;
}

/** Writes a group. Returns false, and writes no row, if the lease was lost. */
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

/** Moves arrived groups to `event_groups`, of one response or of all. The caller opens a transaction. */
export function settleGroups(connection: SqliteConnection, response?: number): void {
  const arrived = `FROM arrived_groups${response === undefined ? "" : " WHERE response = ?"}`;
  const run = (sql: string) => connection.prepare(sql).run(...(response === undefined ? [] : [response]));
  const { changes } = run(
    `INSERT INTO event_groups (response, first_seq, last_seq, events)
     SELECT response, first_seq, last_seq, events ${arrived} ORDER BY response, first_seq`,
  );
  if (changes > 0) run(`DELETE ${arrived}`);
}

/** True if the arrived groups should be settled. `logs`: number of open logs. */
export function isMuchArrived(connection: SqliteConnection, logs: number): boolean {
  const row = connection.prepare("SELECT MAX(key) AS count FROM arrived_groups").get() as { count: number | null };
  return (row.count ?? 0) >= Math.max(MAX_ARRIVED, MAX_ARRIVED_OF_LOG * logs);
}

// The index finds the group with event `after`, which may contain later events. Parameters that occur twice have names,
// because Node before 24.5 can't bind numbered ones.
const selectSettled = `SELECT first_seq, events FROM event_groups
  WHERE response = :response AND last_seq > :after AND first_seq >= COALESCE(
    (SELECT MAX(first_seq) FROM event_groups WHERE response = :response AND first_seq <= :after), 0)`;

const selectAll = `${selectSettled}
  UNION ALL SELECT first_seq, events FROM arrived_groups
  WHERE response = :response AND last_seq > :after ORDER BY first_seq`;

/** Returns the groups of a response with events after `after`, in order. The first may contain earlier events. */
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
  return connection.prepare(sql).iterate({ response: response.key, after }) as Iterable<{ events: string }>;
}
