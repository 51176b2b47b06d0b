/** The store of many processes on many machines: a PostgreSQL database. */
import { setTimeout as sleep } from "node:timers/promises";
import { migratePostgres, readSchemaState, type SchemaState } from "./migrations/migrate-postgres.ts";
import { createPostgresConnection, type PostgresConnection, type Query } from "./postgres-connection.ts";
import { createPostgresDatabase, toColumn } from "./postgres-database.ts";
import { createOwnLeases, type OwnLeases, type PostgresLease, releaseLease } from "./postgres-leases.ts";
import { createPostgresMailbox } from "./postgres-mailbox.ts";
import { createPostgresLogs, type PostgresLogs } from "./postgres-log.ts";
import { isHolderAlive, openPostgresSession, type PostgresSession } from "./postgres-session.ts";
import { announceLists } from "./announce-lists.ts";
import { createStoredRows } from "./sql-rows.ts";
import { createPostgresWaiting } from "./postgres-waiting.ts";
import type { Cluster, SharedLoad } from "./cluster.ts";
import { localOwner, type SharedStore } from "./store.ts";

/** Tries of a migration beside running servers, and milliseconds between two of them. */
const MAX_TRIES = 100;
const RETRY_MS = 100;

/** A store that many processes share. */
export interface ClusterStore extends SharedStore {
  readonly cluster: Cluster;
  forOwner(owner: string): ClusterStore;
}

/**
 * Opens the store, and creates its tables if they are missing. Returns the local owner's view.
 * `address`: `postgres://USER@HOST:PORT/DATABASE`. @throws SheafError CONFIG_INVALID, STORAGE_…
 */
export async function createPostgresStore(address: string): Promise<ClusterStore> {
  // The operator sees a failure of this step, and clients see later failures.
  await preparePostgres(address, { migrates: true });
  const connection = createPostgresConnection(address, true);
  const session = await openPostgresSession(connection);
  const leases = createOwnLeases(connection, session);
  const logs = createPostgresLogs(connection, session, leases);
  return announceLists(createView({ connection, session, leases, logs }, localOwner), session);
}

/**
 * Checks without patience if the database can be the store; `migrates`: and makes it so.
 * Returns the schema before. @throws SheafError CONFIG_INVALID, STORAGE_…
 */
export async function preparePostgres(
  address: string,
  { migrates }: { readonly migrates: boolean },
): Promise<SchemaState> {
  const connection = createPostgresConnection(address);
  const client = connection.createClient();
  // A break also fails the statements of the connection.
  client.on("error", () => undefined);
  const query: Query = async <Row extends object>(text: string, values: readonly unknown[] = []) =>
    (await (values.length === 0 ? client.query<Row>(text) : client.query<Row>(text, [...values]))).rows;
  try {
    await client.connect();
    const state = await readSchemaState(query);
    if (!migrates || state.version === state.newest) return state;
    await migrateUnderLoad(query);
    return state;
  } catch (error) {
    throw connection.toError(error);
  } finally {
    await client.end().catch(() => undefined);
    await connection.close();
  }
}

/** Tries again when a running server locks a table; each try is short, since that server may wait for it as well. */
async function migrateUnderLoad(query: Query): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await query("BEGIN");
      await migratePostgres(query);
      await query("COMMIT");
      return;
    } catch (error) {
      const { code = "" } = error as { code?: string };
      if (!/^(55P03|40P01)$/.test(code) || tries === MAX_TRIES) throw error;
      await query("ROLLBACK");
      await sleep(RETRY_MS);
    }
  }
}

/** Parts that the views of all owners share. */
interface PostgresParts {
  readonly connection: PostgresConnection;
  readonly session: PostgresSession;
  readonly leases: OwnLeases;
  readonly logs: PostgresLogs;
}

/** Deletes within a transaction. */
async function deleteConversation(
  query: Query,
  { conversation, conversationId }: PostgresLease,
  owner: string,
): Promise<void> {
  await query(
    `DELETE FROM sheaf.event_groups WHERE response IN (SELECT key FROM sheaf.responses WHERE conversation = $1)`,
    [conversation],
  );
  await query("DELETE FROM sheaf.orders WHERE conversation = $1 AND owner = $2", [conversationId, owner]);
  await query("DELETE FROM sheaf.conversations WHERE key = $1", [conversation]);
}

/** Deletes within a transaction. Concurrent calls take other conversations, and no writer can start in these. */
async function deleteOld(query: Query, before: number, limit: number): Promise<readonly string[]> {
  const found = await query<{ key: number; id: string }>(
    `SELECT c.key, c.id FROM sheaf.conversations c
     WHERE c.updated_at < $1 AND NOT c.pinned AND c.holder IS NULL
       AND NOT EXISTS (SELECT 1 FROM sheaf.responses r WHERE r.conversation = c.key AND NOT r.ended)
       AND NOT EXISTS (SELECT 1 FROM sheaf.orders o WHERE o.conversation = c.id AND o.response IS NULL AND o.failure IS NULL)
     ORDER BY c.updated_at LIMIT $2 FOR UPDATE OF c SKIP LOCKED`,
    [before, limit],
  );
  const keys = found.map(({ key }) => key);
  const ofThem = "(SELECT key FROM sheaf.responses WHERE conversation = ANY ($1::bigint[]))";
  await query(`DELETE FROM sheaf.event_groups WHERE response IN ${ofThem}`, [keys]);
  await query("DELETE FROM sheaf.conversations WHERE key = ANY ($1::bigint[])", [keys]);
  return found.map(({ id }) => id);
}

/** Checks within a transaction. Waits for a process that deletes one of them. */
async function hasAny(query: Query, ids: readonly string[]): Promise<boolean> {
  const found = await query("SELECT 1 FROM sheaf.conversations WHERE id = ANY ($1::text[]) FOR KEY SHARE", [ids]);
  return found.length > 0;
}

async function readLoad(query: Query, { listQuiet }: PostgresSession): Promise<SharedLoad> {
  const [load] = await query<SharedLoad>(
    `SELECT (SELECT COUNT(*) FROM sheaf.holders h WHERE ${isHolderAlive("h.id", "$1")}) AS nodes,
       (SELECT COUNT(*) FROM sheaf.responses WHERE NOT ended) AS running,
       o.waiting, o."oldestSeconds"
     FROM (SELECT COUNT(*) AS waiting,
         GREATEST(EXTRACT(EPOCH FROM clock_timestamp() - MIN(not_before)), 0)::float8 AS "oldestSeconds"
       FROM sheaf.orders WHERE response IS NULL AND failure IS NULL) o`,
    [listQuiet()],
  );
  return load!;
}

function createCluster({ connection, session, logs }: PostgresParts, owner: string): Cluster {
  const { query } = connection;
  const findLease = (responseId: string): PostgresLease => logs.findLease(responseId, owner);
  return {
    mailbox: createPostgresMailbox({ connection, session, findLease }, owner),
    findCut: (responseId) => logs.findCut(responseId, owner),
    takeOver: (responseId) => logs.claim(responseId, owner, "continue"),
    async setContinuable(responseId, isContinuable) {
      await query(
        `UPDATE sheaf.orders o SET resumes = $3 FROM sheaf.conversations c
         WHERE o.id = $1 AND o.owner = $2 AND c.id = o.conversation AND c.holder = $4`,
        [responseId, owner, isContinuable, session.holder],
      );
    },
    readLoad: () => readLoad(query, session),
    async handOver() {
      if (!(await session.hasOthers())) return undefined;
      await logs.letGo();
      return () => session.leave();
    },
  };
}

/** The store as an owner sees it: every statement has the owner as a condition. */
function createView(parts: PostgresParts, owner: string): ClusterStore {
  const { connection, session, leases, logs } = parts;
  return {
    ...createStoredRows(createPostgresDatabase(connection), owner),
    gathersWrites: true,
    cluster: createCluster(parts, owner),
    waiting: createPostgresWaiting(connection, session, leases, owner),
    forOwner: (other) => createView(parts, other),
    listOpenResponses: () => logs.list(),
    createResponse: (response) => logs.create(response, owner),
    claimResponse: (responseId) => logs.claim(responseId, owner, "end"),
    leaveResponse: async (responseId) => logs.leave(responseId, owner),
    keepLease: (responseId) => logs.keep(responseId, owner),
    async lockConversation(conversationId) {
      const place = { conversationId: toColumn(conversationId), owner };
      const lease = await leases.transact(
        place,
        (_, take) => take(),
        (taken) => taken,
      );
      if (!lease) return undefined;
      return async () => {
        leases.forget(lease);
        await releaseLease(connection.query, lease);
      };
    },
    async requestCancel(responseId) {
      const asked = await connection.query(
        `UPDATE sheaf.conversations c SET cancel = true FROM sheaf.responses r
         WHERE r.conversation = c.key AND r.id = $1 AND NOT r.ended AND c.owner = $2 AND c.holder IS NOT NULL
         RETURNING c.key`,
        [toColumn(responseId), owner],
      );
      if (asked.length > 0) session.publish([responseId]);
    },
    watchResponse: (responseId, onChange) => session.watch(responseId, onChange),
    watchConversations: () => () => undefined,
    appendEvents: (responseId, events) => logs.append(responseId, owner, events),
    readEvents: (responseId, after = 0, limit = Number.MAX_SAFE_INTEGER) => logs.read(responseId, owner, after, limit),
    deleteConversation: (conversationId) =>
      leases.transact(
        { conversationId: toColumn(conversationId), owner },
        async (query, take, isDoubtful) => {
          const lease = await take();
          // An earlier try may have deleted it.
          if (!lease) return isDoubtful;
          await deleteConversation(query, lease, owner);
          return true;
        },
        () => undefined,
      ),
    async deleteOldConversations(before, limit) {
      let deleted: readonly string[] = [];
      await connection.transact(async (query, isDoubtful) => {
        const isDone = isDoubtful && deleted.length > 0 && !(await hasAny(query, deleted));
        if (!isDone) deleted = await deleteOld(query, before, limit);
      });
      return deleted;
    },
    async checkReady() {
      const [row] = await connection.query<{ isCopy: boolean }>('SELECT pg_is_in_recovery() AS "isCopy"');
      if (row?.isCopy) throw connection.toError({ code: "25006", message: "it is a standby" });
    },
    async close() {
      await logs.settle();
      await session.close();
      await connection.close();
    },
  };
}
