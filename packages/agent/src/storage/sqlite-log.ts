/** The logs of responses in SQLite: begun, taken over, written, read. */
import type { RunEvent } from "@sheaf/protocol";
import { SheafError } from "../errors.ts";
import { createLostError } from "./busy-error.ts";
import type { SqliteConnection } from "./sqlite-connection.ts";
import type { Lease, Leases } from "./sqlite-leases.ts";
import type { Durability, LeaseState, NewResponse, ResponseRecord } from "./store.ts";

/** A response that is written here: its row, its lease, and the number of its last event. */
interface OpenLog {
  readonly key: number;
  readonly owner: string;
  readonly lease: Lease;
  lastSeq: number;
}

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

/** Events for a log, and whose it is. */
export interface OwnedAppend {
  readonly responseId: string;
  readonly owner: string;
  readonly events: EncodedEvents;
  readonly durability: Durability;
}

/** Events on their way into a log. */
interface Append {
  readonly responseId: string;
  readonly log: OpenLog;
  readonly events: EncodedEvents;
  readonly durability: Durability;
}

export interface SqliteLogs {
  create(response: NewResponse, owner: string): ResponseRecord;
  claim(responseId: string, owner: string): boolean;
  keep(responseId: string, owner: string): LeaseState;
  append(responseId: string, owner: string, events: EncodedEvents, durability: Durability): void;
  /** As `append` for several, in one transaction. Gives what was refused; it takes no other one with it. */
  appendAll(appends: readonly OwnedAppend[]): readonly (SheafError | undefined)[];
  read(responseId: string, owner: string, after: number, limit: number): readonly RunEvent[];
}

/** Logs that are written here. */
export function createSqliteLogs(connection: SqliteConnection, leases: Leases): SqliteLogs {
  const logs = new Map<string, OpenLog>();

  const findLog = (responseId: string, owner: string): OpenLog => {
    const log = logs.get(responseId);
    if (log?.owner === owner) return log;
    throw new SheafError("INTERNAL", `response ${responseId} is not stored, or not written here`, {
      source: "storage",
    });
  };

  /** Checks the numbers, and writes within a transaction, or as one statement. */
  const write = ({ responseId, log, events }: Append): void => {
    const { firstSeq, lastSeq, count, text } = events;
    if (firstSeq !== log.lastSeq + 1 || lastSeq !== log.lastSeq + count) {
      const message = `events ${firstSeq} to ${lastSeq} of ${responseId} do not follow event ${log.lastSeq}`;
      throw new SheafError("INTERNAL", message, { source: "storage" });
    }
    const { changes } = connection
      .prepare(
        `INSERT INTO event_groups (response, first_seq, last_seq, events)
         SELECT ?, ?, ?, ? FROM conversations WHERE key = ? AND fence = ?`,
      )
      .run(log.key, firstSeq, lastSeq, text, log.lease.conversation, log.lease.fence);
    if (changes === 0) throw createLostError(responseId);
    if (!events.endsLog) return;
    connection.prepare("UPDATE responses SET ended = 1 WHERE key = ?").run(log.key);
    leases.release(log.lease);
  };

  const note = ({ responseId, log, events }: Append): void => {
    log.lastSeq = events.lastSeq;
    if (events.endsLog) logs.delete(responseId);
  };

  return {
    create: (response, owner) => {
      const { record, log } = connection.transact("grouped", () => insertResponse(connection, leases, response, owner));
      logs.set(response.id, log);
      return record;
    },

    claim: (responseId, owner) =>
      connection.transact("grouped", () => {
        const row = connection
          .prepare(
            `SELECT r.key, c.id AS conversationId,
               COALESCE((SELECT MAX(last_seq) FROM event_groups g WHERE g.response = r.key), 0) AS lastSeq
             FROM responses r JOIN conversations c ON c.key = r.conversation
             WHERE r.id = ? AND c.owner = ? AND r.ended = 0`,
          )
          .get(responseId, owner) as { key: number; conversationId: string; lastSeq: number } | undefined;
        if (!row) return false;
        try {
          const lease = leases.take(row.conversationId, owner)!;
          logs.set(responseId, { key: row.key, owner, lease, lastSeq: row.lastSeq });
          return true;
        } catch (error) {
          if (error instanceof SheafError && error.code === "CONVERSATION_BUSY") return false;
          throw error;
        }
      }),

    keep: (responseId, owner) => connection.run(() => leases.keep(findLog(responseId, owner).lease)),

    append(responseId, owner, events, durability) {
      const append: Append = { responseId, log: findLog(responseId, owner), events, durability };
      if (events.endsLog) {
        connection.transact(durability, () => write(append));
      } else {
        connection.run(() => {
          connection.setDurability(durability);
          write(append);
        });
      }
      note(append);
    },

    appendAll(owned) {
      const refused = new Map<OwnedAppend, SheafError>();
      const written: Append[] = [];
      const isSynced = owned.some(({ durability }) => durability === "synced");
      try {
        connection.transact(isSynced ? "synced" : "grouped", () => {
          for (const entry of owned) {
            try {
              const append: Append = { ...entry, log: findLog(entry.responseId, entry.owner) };
              write(append);
              // The next ones of the same log follow it.
              append.log.lastSeq = append.events.lastSeq;
              written.push(append);
            } catch (error) {
              if (!(error instanceof SheafError)) throw error;
              refused.set(entry, error);
            }
          }
        });
      } catch (error) {
        for (const { log, events } of written) log.lastSeq = Math.min(log.lastSeq, events.firstSeq - 1);
        throw error;
      }
      for (const append of written) note(append);
      return owned.map((entry) => refused.get(entry));
    },

    read: (responseId, owner, after, limit) =>
      connection.run(() => {
        // Only the group that holds event `after` may hold more: the index finds it.
        const rows = connection
          .prepare(
            `SELECT g.events FROM event_groups g JOIN responses r ON r.key = g.response
             JOIN conversations c ON c.key = r.conversation
             WHERE r.id = ?1 AND c.owner = ?2 AND g.last_seq > ?3 AND g.first_seq >= COALESCE(
               (SELECT MAX(first_seq) FROM event_groups WHERE response = r.key AND first_seq <= ?3), 0)
             ORDER BY g.first_seq`,
          )
          .iterate(responseId, owner, after) as Iterable<{ events: string }>;
        const events: RunEvent[] = [];
        for (const row of rows) {
          for (const event of JSON.parse(row.events) as RunEvent[]) if (event.seq > after) events.push(event);
          if (events.length >= limit) break;
        }
        return events;
      }),
  };
}

/** Within a transaction. @throws SheafError CONVERSATION_BUSY, USAGE. */
function insertResponse(
  connection: SqliteConnection,
  leases: Leases,
  response: NewResponse,
  owner: string,
): { readonly record: ResponseRecord; readonly log: OpenLog } {
  const { id, conversationId, workspace, title, createdAt, request } = response;
  connection
    .prepare(
      `INSERT INTO conversations (id, owner, workspace, title, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET updated_at = excluded.updated_at WHERE owner = excluded.owner`,
    )
    .run(conversationId, owner, workspace, title, createdAt, createdAt);
  const lease = leases.take(conversationId, owner);
  if (!lease) {
    throw new SheafError("USAGE", `the id ${conversationId} is taken: choose another one`, { source: "storage" });
  }
  const row = connection
    .prepare(
      `INSERT INTO responses (id, conversation, position, created_at)
       VALUES (?1, ?2, 1 + (SELECT COUNT(*) FROM responses WHERE conversation = ?2), ?3) RETURNING key, position`,
    )
    .get(id, lease.conversation, createdAt) as { key: number; position: number };
  if (request) insertRequest(connection, request, owner, row.key, createdAt);
  return {
    record: { id, conversationId, position: row.position, createdAt, lastSeq: 0, ended: false, reverted: false },
    log: { key: row.key, owner, lease, lastSeq: 0 },
  };
}

function insertRequest(
  connection: SqliteConnection,
  { key, digest }: NonNullable<NewResponse["request"]>,
  owner: string,
  response: number,
  createdAt: number,
): void {
  const { changes } = connection
    .prepare(
      "INSERT INTO requests (owner, key, digest, response, created_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
    )
    .run(owner, key, digest, response, createdAt);
  if (changes > 0) return;
  throw new SheafError("CONVERSATION_BUSY", "the same request was sent at the same moment: send it again", {
    source: "storage",
  });
}
