/** Messages that wait for their conversation, as rows that any process may begin. */
import { SheafError } from "@sheaf/base/errors";
import type { NewResponse } from "./store.ts";
import { MAX_WAITING, createFullError, WaitingLimitError } from "./cluster.ts";
import type { PostgresConnection, Query } from "./postgres-connection.ts";
import { isHolderAlive, type PostgresSession } from "./postgres-session.ts";
import { toColumn } from "./postgres-database.ts";
import type { ClaimedMessage, FoundMessage, WaitingMessage, WaitingMessages } from "./cluster.ts";

/** What tells processes that a message may have become free to begin. */
export const waitingNotice = "orders";

/** Between two tries to begin the same message, in SQL. */
const PAUSE = "interval '1 s'";

/** A longer pause means that the clock was set back. */
const isPaused = `o.not_before BETWEEN clock_timestamp() AND clock_timestamp() + ${PAUSE}`;

/** How often those that are kept no longer are deleted. Milliseconds. */
const SWEEP_MS = 60_000;

/** How long a message that could not begin is kept for those who wait for it, in SQL. */
const KEPT = "interval '10 min'";

const waits = "o.response IS NULL AND o.failure IS NULL";

/** The messages as `owner` sees them. */
export function createPostgresWaiting(
  { query, transact }: PostgresConnection,
  session: PostgresSession,
  owner: string,
): WaitingMessages {
  let sweptAt = -SWEEP_MS;

  return {
    watch: (onChange) => session.watch(waitingNotice, onChange),
    async add(message, maxWaiting) {
      await transact(async (run, isDoubtful) => {
        await lockWaiting(run, owner);
        // It may even have begun since an earlier try.
        if (isDoubtful && (await isKnown(run, message))) return;
        await checkWaiting(run, owner, maxWaiting);
        await insertMessage(run, owner, message);
      });
      session.announce(waitingNotice);
    },
    async hasWaiting(conversationId) {
      const rows = await query(
        `SELECT 1 FROM sheaf.orders o WHERE o.conversation = $1 AND o.owner = $2 AND ${waits} LIMIT 1`,
        [conversationId, owner],
      );
      return rows.length > 0;
    },
    async find(responseId) {
      const [row] = await query<FoundMessage>(
        `SELECT o.conversation AS "conversationId", o.body AS text, o.failure FROM sheaf.orders o
         WHERE o.id = $1 AND o.owner = $2 AND o.response IS NULL`,
        [toColumn(responseId), owner],
      );
      return row;
    },
    async remove(responseId) {
      const gone = await query(
        `DELETE FROM sheaf.orders o WHERE o.id = $1 AND o.owner = $2 AND ${waits} RETURNING o.key`,
        [toColumn(responseId), owner],
      );
      if (gone.length > 0) session.announce(waitingNotice);
      return gone.length > 0;
    },
    async claim(maxRunning, starting) {
      if (performance.now() - sweptAt >= SWEEP_MS) {
        sweptAt = performance.now();
        await query(`DELETE FROM sheaf.orders WHERE failure IS NOT NULL AND failed_at < clock_timestamp() - ${KEPT}`);
      }
      const [message] = await query<ClaimedMessage>(claimStatement, [
        session.holder,
        session.mayTakeOver,
        maxRunning,
        starting,
        session.listQuiet(),
      ]);
      return message;
    },
    async giveBack(responseId) {
      await query(
        `UPDATE sheaf.orders o SET holder = NULL, not_before = clock_timestamp() + ${PAUSE}
         WHERE o.id = $1 AND o.holder = $2 AND ${waits}`,
        [responseId, session.holder],
      );
    },
    async fail(responseId, failure) {
      await query(
        `UPDATE sheaf.orders o SET failure = $3, failed_at = clock_timestamp()
         WHERE o.id = $1 AND o.holder = $2 AND ${waits}`,
        [responseId, session.holder, toColumn(failure)],
      );
      session.announce(waitingNotice);
    },
  };
}

/** Within a transaction. @throws SheafError CANCELLED when it was taken out of the queue. */
export async function beginMessage(
  query: Query,
  { id, conversationId, cluster }: NewResponse,
  row: { readonly response: number; readonly holder: number; readonly owner: string },
): Promise<void> {
  const { response, holder, owner } = row;
  const { hasWaited, continuation } = cluster ?? {};
  const isContinuable = continuation !== undefined;
  if (hasWaited) {
    const begun = await query(
      `UPDATE sheaf.orders SET response = $1, resumes = $4 WHERE id = $2 AND holder = $3 AND response IS NULL AND failure IS NULL
       RETURNING key`,
      [response, id, holder, isContinuable],
    );
    if (begun.length > 0) return;
    throw new SheafError("CANCELLED", "the message no longer waits: it was cancelled", { source: "user" });
  }
  if (!isContinuable) return;
  await query(
    `INSERT INTO sheaf.orders (id, owner, conversation, body, response, resumes) VALUES ($1, $2, $3, $4, $5, true)`,
    [id, owner, conversationId, continuation, response],
  );
}

/** Those that other processes take at the same moment are passed over. */
const CANDIDATES = 64;

// The oldest message of each conversation in which nothing runs, of the owner who has the least running. Whoever looks at the
// same moment takes another one. Rows that wait are read once, however many there are and whatever the planner expects.
const claimStatement = `
  WITH busy AS MATERIALIZED (
    SELECT k.owner, COUNT(*) AS running FROM sheaf.responses r JOIN sheaf.conversations k ON k.key = r.conversation
    WHERE NOT r.ended GROUP BY k.owner
  ), first AS MATERIALIZED (
    SELECT o.key, o.running FROM (
      SELECT o.key, o.id, o.owner, o.conversation, o.holder, o.not_before, COALESCE(b.running, 0) AS running,
        row_number() OVER (PARTITION BY o.conversation ORDER BY o.key) AS place
      FROM sheaf.orders o LEFT JOIN busy b ON b.owner = o.owner WHERE ${waits}
    ) o LEFT JOIN sheaf.conversations c ON c.id = o.conversation AND c.owner = o.owner
    WHERE o.place = 1 AND NOT ${isPaused} AND o.running < $3
      AND (o.holder IS NULL OR (o.holder = $1 AND o.id <> ALL ($4::text[]))
        OR ($2 AND o.holder <> $1 AND NOT ${isHolderAlive("o.holder", "$5")}))
      AND NOT EXISTS (SELECT 1 FROM sheaf.responses r WHERE r.conversation = c.key AND NOT r.ended)
      AND (c.holder IS NULL OR ($2 AND NOT ${isHolderAlive("c.holder", "$5")}))
    ORDER BY o.running, o.key LIMIT ${CANDIDATES}
  )
  UPDATE sheaf.orders SET holder = $1 WHERE key = (
    SELECT o.key FROM first f JOIN sheaf.orders o ON o.key = f.key WHERE ${waits}
    ORDER BY f.running, o.key LIMIT 1 FOR UPDATE OF o SKIP LOCKED)
  RETURNING id AS "responseId", owner, body AS text`;

/** Within a transaction. Other processes that add a message of this owner wait for its end. */
async function lockWaiting(query: Query, owner: string): Promise<void> {
  await query("SELECT pg_advisory_xact_lock(hashtextextended($1, 2))", [owner]);
}

async function isKnown(query: Query, { responseId }: WaitingMessage): Promise<boolean> {
  const known = "SELECT 1 FROM sheaf.orders WHERE id = $1 UNION ALL SELECT 1 FROM sheaf.responses WHERE id = $1";
  return (await query(known, [responseId])).length > 0;
}

/** @throws WaitingLimitError. */
async function checkWaiting(query: Query, owner: string, maxWaiting: number): Promise<void> {
  const sql = `SELECT COUNT(*) AS count FROM sheaf.orders o WHERE o.owner = $1 AND ${waits}`;
  const [row] = await query<{ count: number }>(sql, [owner]);
  if (row!.count >= maxWaiting) throw new WaitingLimitError();
}

/** Within a transaction. @throws SheafError CONVERSATION_BUSY. */
async function insertMessage(query: Query, owner: string, message: WaitingMessage): Promise<void> {
  const { responseId, conversationId, text, request } = message;
  // Who counts must not miss one that is being added.
  await query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [conversationId]);
  const [found] = await query<{ count: number; isKnown: boolean }>(
    `SELECT (SELECT COUNT(*) FROM sheaf.orders o WHERE o.conversation = $1 AND ${waits}) AS count,
       EXISTS (SELECT 1 FROM sheaf.requests WHERE owner = $2 AND key = $3) OR
       EXISTS (SELECT 1 FROM sheaf.orders o WHERE o.owner = $2 AND o.request_key = $3 AND ${waits}) AS "isKnown"`,
    [conversationId, owner, request?.key ?? null],
  );
  if (found!.isKnown || found!.count >= MAX_WAITING) throw createFullError(conversationId);
  await query(
    `INSERT INTO sheaf.orders (id, owner, conversation, body, request_key, request_digest)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [responseId, owner, conversationId, text, request?.key ?? null, request?.digest ?? null],
  );
}
