/** The embedded store: one SQLite file in WAL mode, written by any number of processes. */
import { openSqliteConnection, type SqliteConnection } from "./sqlite-connection.ts";
import { createSqliteDatabase } from "./sqlite-database.ts";
import { createLeases, type LeaseClocks, type Leases } from "./sqlite-leases.ts";
import { encodeEvents } from "./encode-events.ts";
import { createStoredRows } from "./sql-rows.ts";
import { createSqliteLogs, type SqliteLogs } from "./sqlite-log.ts";
import { announceLists, createLocalNotices } from "./announce-lists.ts";
import { announceChanges, createSqliteWaiting } from "./sqlite-waiting.ts";
import { localOwner, type SharedStore } from "./store.ts";

/**
 * Opens the store, and creates it if it is missing: folder 0700, file 0600 (S-42). Returns the local owner's view.
 * @throws SheafError STORAGE_LOCKED, STORAGE_FULL, STORAGE_CORRUPT.
 */
export function createSqliteStore(file: string, clocks: Partial<LeaseClocks> = {}): SharedStore {
  const connection = openSqliteConnection(file, file, "any");
  const leases = createLeases(connection, clocks);
  const logs = createSqliteLogs(connection, leases);
  const store = createSqliteView({ connection, leases, logs }, localOwner);
  return announceLists(announceChanges(store), createLocalNotices());
}

/** Parts that the views of all owners share. */
export interface SqliteParts {
  readonly connection: SqliteConnection;
  readonly leases: Leases;
  readonly logs: SqliteLogs;
}

/** The store as an owner sees it: every statement has the owner as a condition. */
export function createSqliteView(parts: SqliteParts, owner: string): SharedStore {
  const { connection, leases, logs } = parts;
  const database = createSqliteDatabase(connection);
  return {
    ...createStoredRows(database, owner),
    gathersWrites: false,
    cluster: undefined,
    waiting: createSqliteWaiting(database, owner),
    watchResponse: () => () => undefined,
    watchConversations: () => () => undefined,
    forOwner: (other) => createSqliteView(parts, other),
    createResponse: async (response) => logs.create(response, owner),
    claimResponse: async (responseId) => logs.claim(responseId, owner),
    leaveResponse: async (responseId) => logs.leave(responseId, owner),
    keepLease: async (responseId) => logs.keep(responseId, owner),
    async lockConversation(conversationId) {
      const lease = connection.transact("grouped", () => leases.take(conversationId, owner));
      return lease && (async () => connection.run(() => leases.release(lease)));
    },
    requestCancel: async (responseId) => connection.run(() => leases.requestCancel(responseId, owner)),
    async appendEvents(responseId, events, durability) {
      const encoded = encodeEvents(events);
      if (encoded) logs.append({ responseId, owner, events: encoded, durability });
    },
    readEvents: async (responseId, after = 0, limit = Number.MAX_SAFE_INTEGER) =>
      logs.read(responseId, owner, after, limit),
    deleteConversation: async (conversationId) =>
      connection.transact("synced", () => {
        if (!leases.check(conversationId, owner)) return false;
        connection.prepare("DELETE FROM orders WHERE conversation = ? AND owner = ?").run(conversationId, owner);
        connection.prepare("DELETE FROM conversations WHERE id = ? AND owner = ?").run(conversationId, owner);
        return true;
      }),
    deleteOldConversations: async (before, limit) =>
      connection.transact("synced", () => {
        const found = connection
          .prepare(
            `SELECT id FROM conversations c WHERE updated_at < ? AND NOT pinned AND lease_holder IS NULL
               AND NOT EXISTS (SELECT 1 FROM responses WHERE conversation = c.key AND NOT ended)
               AND NOT EXISTS (SELECT 1 FROM orders o WHERE o.conversation = c.id AND o.response IS NULL AND o.failure IS NULL)
             ORDER BY updated_at LIMIT ?`,
          )
          .all(before, limit) as { id: string }[];
        for (const { id } of found) connection.prepare("DELETE FROM conversations WHERE id = ?").run(id);
        return found.map(({ id }) => id);
      }),
    checkReady: async () =>
      connection.transact("grouped", () => {
        connection.prepare("SELECT 1 FROM conversations LIMIT 1").get();
        // SQLite writes the page even if the number stays; a transaction that is rolled back writes nothing.
        const { user_version: version } = connection.prepare("PRAGMA user_version").get() as { user_version: number };
        connection.prepare(`PRAGMA user_version = ${version}`).run();
      }),
    close: async () => connection.close(),
  };
}
