/** Reads of what is new in logs, gathered: a notice names many responses, and one statement reads them all. */
import type { RunEvent } from "@sheaf/protocol";
import { decodeEvents } from "./encode-events.ts";
import type { PostgresConnection } from "./postgres-connection.ts";
import { toColumn } from "./postgres-database.ts";

/** What is new of one log. */
interface NewRead {
  readonly responseId: string;
  readonly owner: string;
  /** Number of the last event that is known. */
  readonly after: number;
  readonly limit: number;
}

interface WaitingRead extends NewRead, PromiseWithResolvers<readonly RunEvent[]> {}

/** Logs in one statement, at most. */
const MAX_READS = 200;

// Only the group with event `after` may contain later ones. At least one group of each log, so that every read goes on.
const statement = `
  SELECT i.place, g.events FROM unnest($1::text[], $2::text[], $3::int[], $4::int[]) WITH ORDINALITY
    AS i (id, owner, after, last, place)
  JOIN sheaf.responses r ON r.id = i.id JOIN sheaf.conversations c ON c.key = r.conversation AND c.owner = i.owner
  CROSS JOIN LATERAL (
    SELECT e.first_seq, e.events FROM sheaf.event_groups e WHERE e.response = r.key AND e.last_seq > i.after
      AND e.first_seq <= i.last AND e.first_seq >= COALESCE(
        (SELECT MAX(f.first_seq) FROM sheaf.event_groups f WHERE f.response = r.key AND f.first_seq <= i.after), 0)) g
  ORDER BY i.place, g.first_seq`;

/** Nothing waits. The result reads one log, together with all that ask while another statement runs. */
export function createReadQueue(connection: PostgresConnection) {
  let waiting: WaitingRead[] = [];
  let isReading = false;

  const readBatch = async (batch: readonly WaitingRead[]): Promise<void> => {
    try {
      const rows = await connection.query<{ place: number; events: string }>(statement, [
        batch.map(({ responseId }) => toColumn(responseId)),
        batch.map(({ owner }) => owner),
        batch.map(({ after }) => after),
        batch.map(({ after, limit }) => Math.min(after + limit, 2 ** 31 - 1)),
      ]);
      const found = Map.groupBy(rows, ({ place }) => place);
      for (const [index, read] of batch.entries()) settle(read, found.get(index + 1) ?? []);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };

  /** A log that is damaged fails alone. */
  const settle = ({ after, resolve, reject }: WaitingRead, rows: readonly { readonly events: string }[]): void => {
    try {
      resolve(decodeEvents(rows, after));
    } catch (error) {
      reject(connection.toError(error));
    }
  };

  const readAll = async (): Promise<void> => {
    isReading = true;
    // What comes in the same turn of the event loop goes together.
    await new Promise(setImmediate);
    while (waiting.length > 0) {
      const batch = waiting.slice(0, MAX_READS);
      waiting = waiting.slice(MAX_READS);
      await readBatch(batch);
    }
    isReading = false;
  };

  return (read: NewRead): Promise<readonly RunEvent[]> => {
    const outcome = { ...read, ...Promise.withResolvers<readonly RunEvent[]>() };
    waiting.push(outcome);
    if (!isReading) void readAll();
    return outcome.promise;
  };
}
