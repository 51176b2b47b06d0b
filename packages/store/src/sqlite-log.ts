/** The logs of responses in SQLite: create, claim, append, read. */
import type { RunEvent } from "@sheaf/protocol";
import { SheafError } from "@sheaf/base/errors";
import {
  createLostError,
  createTakenError,
  isBusyError,
  type Durability,
  type LeaseState,
  type NewResponse,
  type ResponseRecord,
} from "./store.ts";
import type { EncodedEvents } from "./encode-events.ts";
import { checkNext, createOpenLogs, type OpenLog } from "./open-logs.ts";
import { insertResponse, toConversationInsert } from "./sql-rows.ts";
import { runSqlite, runSqliteScript, sqliteDialect } from "./sqlite-database.ts";
import type { SqliteConnection } from "./sqlite-connection.ts";
import { beginMessage, checkWaiting, endMessage } from "./sql-waiting.ts";
import { storeDigest } from "./sqlite-digests.ts";
import {
  insertGroup,
  isMuchArrived,
  isSmallGroup,
  lastSeqOfResponse,
  readGroups,
  settleGroups,
} from "./sqlite-groups.ts";
import type { Lease, Leases } from "./sqlite-leases.ts";

interface LeasedLog extends OpenLog {
  readonly lease: Lease;
  /** True if some of its groups may still be in `arrived_groups`. */
  hasArrived: boolean;
}

/** Events for the log of a response, with its owner. */
export interface OwnedAppend {
  readonly responseId: string;
  readonly owner: string;
  readonly events: EncodedEvents;
  readonly durability: Durability;
}

/** Events with their log. */
interface Append extends OwnedAppend {
  readonly log: LeasedLog;
}

/** Creates a table of the open logs of this process. */
export function createSqliteLogs(connection: SqliteConnection, leases: Leases) {
  const logs = createOpenLogs<LeasedLog>();

  /** Checks the numbers, and writes within a transaction, or as one statement. */
  const write = ({ responseId, log, events, durability }: Append, isOneOfMany: boolean): void => {
    checkNext(responseId, log, events);
    const isGathered = isOneOfMany && durability === "grouped" && isSmallGroup(events);
    const table = isGathered ? "arrived_groups" : "event_groups";
    if (!insertGroup(connection, table, log.key, events, log.lease)) throw createLostError(responseId);
    log.hasArrived ||= isGathered;
    for (const id of events.told) runSqliteScript(connection, endMessage(log.key, id));
    if (!events.endsLog) return;
    if (log.hasArrived) settleGroups(connection, log.key);
    connection.prepare("UPDATE responses SET ended = 1 WHERE key = ?").run(log.key);
    storeDigest(connection, log.key);
    connection.prepare("DELETE FROM orders WHERE response = ?").run(log.key);
    leases.release(log.lease);
  };

  const note = ({ responseId, log, events }: Append): void => {
    log.lastSeq = events.lastSeq;
    if (events.endsLog) logs.remove(responseId, log.owner);
  };

  return {
    create: (response: NewResponse, owner: string): ResponseRecord => {
      const { record, log } = connection.transact("grouped", () => beginResponse(connection, leases, response, owner));
      logs.add(response.id, log);
      return record;
    },

    claim: (responseId: string, owner: string): boolean =>
      connection.transact("grouped", () => {
        const row = connection
          .prepare(
            `SELECT r.key, c.id AS conversationId, ${lastSeqOfResponse} AS lastSeq
             FROM responses r JOIN conversations c ON c.key = r.conversation
             WHERE r.id = ? AND c.owner = ? AND r.ended = 0`,
          )
          .get(responseId, owner) as { key: number; conversationId: string; lastSeq: number } | undefined;
        if (!row) return false;
        try {
          const lease = leases.take(row.conversationId, owner)!;
          logs.add(responseId, { key: row.key, owner, lease, lastSeq: row.lastSeq, hasArrived: true });
          return true;
        } catch (error) {
          if (isBusyError(error)) return false;
          throw error;
        }
      }),

    /** Ends the writing of a response in this process, if there was any. */
    leave(responseId: string, owner: string): void {
      const log = logs.remove(responseId, owner);
      if (log) leases.forget(log.lease);
    },

    keep: (responseId: string, owner: string): LeaseState =>
      connection.run(() => leases.keep(logs.find(responseId, owner).lease)),

    append(entry: OwnedAppend): void {
      const append: Append = { ...entry, log: logs.find(entry.responseId, entry.owner) };
      if (entry.events.endsLog || entry.events.told.length > 0) {
        connection.transact(entry.durability, () => write(append, false));
      } else {
        connection.run(() => {
          connection.setDurability(entry.durability);
          write(append, false);
        });
      }
      note(append);
    },

    /** Appends several groups in one transaction. Returns an error for each refused group, and stores the others. */
    appendAll(owned: readonly OwnedAppend[]): readonly (SheafError | undefined)[] {
      const refused = new Map<OwnedAppend, SheafError>();
      const written: Append[] = [];
      const isSynced = owned.some(({ durability }) => durability === "synced");
      try {
        connection.transact(isSynced ? "synced" : "grouped", () => {
          for (const entry of owned) {
            try {
              const append: Append = { ...entry, log: logs.find(entry.responseId, entry.owner) };
              write(append, true);
              // Later appends to the same log follow this one.
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

    /** True if `appendAll` left so many arrived groups that they should be settled. */
    isMuchArrived: () => connection.run(() => isMuchArrived(connection, logs.size)),
    /** Moves all arrived groups to their logs. */
    settle: () => connection.transact("grouped", () => settleGroups(connection)),

    read: (responseId: string, owner: string, after: number, limit: number): readonly RunEvent[] =>
      connection.run(() => {
        const events: RunEvent[] = [];
        for (const row of readGroups(connection, responseId, owner, after)) {
          for (const event of JSON.parse(row.events) as RunEvent[]) if (event.seq > after) events.push(event);
          if (events.length >= limit) break;
        }
        return events;
      }),
  };
}

export type SqliteLogs = ReturnType<typeof createSqliteLogs>;

/** Creates a response, within a transaction. @throws SheafError CONVERSATION_BUSY, USAGE. */
function beginResponse(
  connection: SqliteConnection,
  leases: Leases,
  response: NewResponse,
  owner: string,
): { readonly record: ResponseRecord; readonly log: LeasedLog } {
  const { id, conversationId, createdAt } = response;
  runSqliteScript(connection, checkWaiting(response));
  runSqlite(connection, toConversationInsert(sqliteDialect, owner, response));
  const lease = leases.take(conversationId, owner);
  if (!lease) throw createTakenError(conversationId);
  const script = insertResponse(sqliteDialect, owner, response, lease.conversation);
  const { key, position, parent } = runSqliteScript(connection, script);
  runSqliteScript(connection, beginMessage(response, { response: key, holder: null, owner }));
  return {
    record: { id, conversationId, position, createdAt, lastSeq: 0, ended: false, reverted: false, parent },
    log: { key, owner, lease, lastSeq: 0, hasArrived: false },
  };
}
