/** Messages that wait for their conversation, as rows that any process of the store may start. */
import { SheafError } from "@sheaf/base/errors";
import {
  createFullError,
  createWaitingLimitError,
  MAX_WAITING,
  type ClaimedMessage,
  type FoundMessage,
  type ListedMessage,
  type MessagePlace,
  type WaitingMessage,
  type WaitingMessages,
} from "./cluster.ts";
import { lock, raw, sql, step, type Dialect, type Sql, type SqlDatabase, type Statements } from "./sql.ts";
import type { NewResponse } from "./store.ts";

/** The pause between two tries to start the same message. Milliseconds. */
const PAUSE_MS = 1000;

/** The time for which Sheaf keeps a failed message for its readers. Milliseconds. */
const KEPT_MS = 24 * 60 * 60_000;

/** The pause between two deletions of older failed messages. Milliseconds. */
const SWEEP_MS = 60_000;

/** The condition for a message `o` that hasn't started or failed: it waits, or a response is about to have it. */
export const isStored = raw("o.response IS NULL AND o.failure IS NULL");

/** The condition for a message `o` that may start. A response that took it, and has ended, returned it. */
export const waits = raw(`o.response IS NULL AND o.failure IS NULL AND (o.told IS NULL OR
  EXISTS (SELECT 1 FROM sheaf.responses t WHERE t.key = o.told AND t.ended))`);

/** The order in which messages `o` of a conversation start. */
const inOrder = raw("o.steers DESC, o.place, o.key");

/** The key in `requests` by which a message that joined a response is found; no client can send it. */
export function toToldKey(responseId: string): string {
  return `\t${responseId}`;
}

/** The name of a lock during which no other response or message of this request is added. */
export function toRequestLock(owner: string, key: string): string {
  return `request ${JSON.stringify([owner, key])}`;
}

/** The way one kind of database claims messages for its processes. */
export interface WaitingTerms {
  /** The number of this process; null: processes share no claims, and the first to start a message has it. */
  readonly holder: number | null;
  /** The time now, and a number of milliseconds, in the unit of `not_before`. */
  readonly clock: string;
  readonly toSpan: (milliseconds: number) => string;
  /** The condition for a response `r` that hasn't ended. */
  readonly isOpen: string;
  /**
   * Claims one of the messages `first` (`key`, `running`) with the least `running`, and of these the oldest.
   * `isFree` gets the condition for a message `o` of the conversation `c` that isn't claimed by another process.
   */
  claim(starting: readonly string[], toFirst: (isFree: Sql) => Sql): Promise<readonly ClaimedMessage[]>;
  readonly announce: (responseId: string) => void;
  readonly watch: WaitingMessages["watch"];
}

/** The messages as `owner` sees them. */
export function createWaitingRows(database: SqlDatabase, owner: string, terms: WaitingTerms): WaitingMessages {
  const { dialect, read } = database;
  const { holder, clock, toSpan, announce } = terms;
  const isOwn = (responseId: string): Sql => sql`o.id = ${responseId} AND o.owner = ${owner}`;
  const isIn = (conversationId: string): Sql =>
    sql`o.conversation = ${conversationId} AND o.owner = ${owner} AND ${waits}`;
  const isClaimed = (responseId: string): Sql =>
    sql`o.id = ${responseId} AND o.holder IS NOT DISTINCT FROM ${holder} AND ${waits}`;
  const select = async <Row extends object>(responseId: string, columns: string): Promise<Row | undefined> => {
    const where = sql`WHERE ${isOwn(responseId)} AND o.response IS NULL`;
    return (await read<Row>(sql`SELECT ${raw(columns)} FROM sheaf.orders o ${where}`))[0];
  };
  let sweptAt = -SWEEP_MS;

  return {
    watch: terms.watch,
    async add(message, maxWaiting) {
      await database.transact("synced", (isDoubtful) =>
        addMessage({ dialect, owner, isDoubtful }, message, maxWaiting),
      );
      announce(message.responseId);
    },
    async hasWaiting(conversationId) {
      return (await read(sql`SELECT 1 FROM sheaf.orders o WHERE ${isIn(conversationId)} LIMIT 1`)).length > 0;
    },
    async list(conversationId) {
      const found = await read<Omit<ListedMessage, "steers"> & { readonly steers: boolean | number }>(
        sql`SELECT o.id AS "responseId", o.body AS text, o.steers FROM sheaf.orders o
          WHERE ${isIn(conversationId)} ORDER BY ${inOrder}`,
      );
      return found.map((message) => ({ ...message, steers: Boolean(message.steers) }));
    },
    arrange: (conversationId, order) =>
      database.transact("synced", function* () {
        yield* lock(dialect, `waiting ${owner}`, conversationId);
        const given = new Map(order.map((message) => [message.responseId, message]));
        const all = sql`SELECT o.id AS "responseId" FROM sheaf.orders o WHERE ${isIn(conversationId)} ORDER BY ${inOrder}`;
        const rest = (yield* step<{ responseId: string }>(all)).filter(({ responseId }) => !given.has(responseId));
        // Later messages have the place 0.
        const places: readonly MessagePlace[] = [...given.values(), ...rest];
        for (const [index, { responseId, steers }] of places.entries()) {
          const kind = steers === undefined ? raw("") : sql`, steers = ${steers}`;
          yield sql`UPDATE sheaf.orders AS o SET place = ${index - places.length} ${kind}
            WHERE o.id = ${responseId} AND ${isIn(conversationId)}`;
        }
      }),
    async take(responseId) {
      const running = sql`sheaf.responses r JOIN sheaf.conversations c ON c.key = r.conversation
        WHERE r.id = ${responseId} AND c.owner = ${owner} AND NOT r.ended`;
      const steering = sql`o.owner = ${owner} AND o.steers AND o.conversation = (SELECT c.id FROM ${running})
        AND (${waits} OR o.told = (SELECT r.key FROM ${running}))`;
      // Usually no message steers, and this process needn't write.
      if ((await read(sql`SELECT 1 FROM sheaf.orders o WHERE ${steering} LIMIT 1`)).length === 0) return [];
      const taken = (await database.write(
        "grouped",
        sql`UPDATE sheaf.orders AS o SET told = (SELECT r.key FROM ${running}) WHERE ${steering}
          RETURNING id AS "responseId", body AS text, place, key`,
      )) as (Omit<ListedMessage, "steers"> & { readonly place: number; readonly key: number })[];
      const sorted = taken.toSorted((one, other) => one.place - other.place || one.key - other.key);
      return sorted.map(({ responseId: id, text }) => ({ responseId: id, text }));
    },
    find: (responseId) =>
      select<FoundMessage>(responseId, `o.conversation AS "conversationId", o.body AS text, o.failure`),
    findFailure: (responseId) => select<FoundMessage>(responseId, "o.failure"),
    async remove(responseId) {
      const gone = await database.write(
        "synced",
        sql`DELETE FROM sheaf.orders AS o WHERE ${isOwn(responseId)} AND ${waits} RETURNING key`,
      );
      if (gone.length > 0) announce(responseId);
      return gone.length > 0;
    },
    async claim(maxRunning, starting) {
      if (performance.now() - sweptAt >= SWEEP_MS) {
        sweptAt = performance.now();
        const old = raw(`failure IS NOT NULL AND failed_at < ${clock} - ${toSpan(KEPT_MS)}`);
        await database.write("grouped", sql`DELETE FROM sheaf.orders WHERE ${old}`);
      }
      const [message] = await terms.claim(starting, (isFree) => selectFirst(terms, maxRunning, isFree));
      return message;
    },
    async giveBack(responseId) {
      const until = raw(`${clock} + ${toSpan(PAUSE_MS)}`);
      await database.write(
        "grouped",
        sql`UPDATE sheaf.orders AS o SET holder = NULL, not_before = ${until} WHERE ${isClaimed(responseId)}`,
      );
    },
    async fail(responseId, failure) {
      await database.write(
        "synced",
        sql`UPDATE sheaf.orders AS o SET failure = ${failure}, failed_at = ${raw(clock)} WHERE ${isClaimed(responseId)}`,
      );
      announce(responseId);
    },
  };
}

function createGoneError(): SheafError {
  return new SheafError("CANCELLED", "the message no longer waits: it was cancelled", { source: "user" });
}

/** Checks that a message hasn't started before: its response may exist. @throws SheafError CANCELLED. */
export function* checkWaiting({ id, cluster }: NewResponse): Statements<void> {
  const where = sql`WHERE o.id = ${id} AND ${waits}`;
  if (cluster?.hasWaited && (yield sql`SELECT 1 FROM sheaf.orders o ${where}`).length === 0) throw createGoneError();
}

/** Connects a new response with its message. @throws SheafError CANCELLED if the message no longer waits. */
export function* beginMessage(
  { id, conversationId, cluster }: NewResponse,
  { response, holder, owner }: { readonly response: number; readonly holder: number | null; readonly owner: string },
): Statements<void> {
  const { hasWaited, continuation } = cluster ?? {};
  const resumes = raw(String(continuation !== undefined));
  if (hasWaited) {
    const begun = yield sql`UPDATE sheaf.orders AS o SET response = ${response}, resumes = ${resumes}
      WHERE o.id = ${id} AND o.holder IS NOT DISTINCT FROM ${holder} AND ${waits} RETURNING key`;
    if (begun.length === 0) throw createGoneError();
    return;
  }
  if (continuation === undefined) return;
  yield sql`INSERT INTO sheaf.orders (id, owner, conversation, body, response, resumes)
    VALUES (${id}, ${owner}, ${conversationId}, ${continuation}, ${response}, ${resumes})`;
}

/** Ends a message that the log of a response contains now: its request and its id find that response. */
export function* endMessage(response: number, id: string): Statements<void> {
  const [message] = yield* step<{ owner: string; key: string | null; digest: string | null }>(
    sql`DELETE FROM sheaf.orders WHERE id = ${id} AND told = ${response}
      RETURNING owner, request_key AS key, request_digest AS digest`,
  );
  if (!message) return;
  for (const key of [toToldKey(id), message.key]) {
    if (key === null) continue;
    yield sql`INSERT INTO sheaf.requests (owner, key, digest, response, created_at)
      SELECT ${message.owner}, ${key}, ${message.digest ?? ""}, r.key, r.created_at FROM sheaf.responses r
      WHERE r.key = ${response} ON CONFLICT DO NOTHING`;
  }
}

/** Most messages to try, since processes that look at the same moment take messages further down. */
const CANDIDATES = 64;

/**
 * Starts a statement with `first`: the oldest message of each conversation without a running response, of owners with
 * fewer than `maxRunning` of them. The database reads each waiting row once, whatever their number and whatever its
 * planner expects. A pause longer than `PAUSE_MS` means that the clock was set back.
 */
function selectFirst({ clock, toSpan, isOpen }: WaitingTerms, maxRunning: number, isFree: Sql): Sql {
  const isPaused = raw(`o.not_before > ${clock} AND o.not_before <= ${clock} + ${toSpan(PAUSE_MS)}`);
  const open = raw(isOpen);
  return sql`
  WITH busy AS MATERIALIZED (
    SELECT k.owner, COUNT(*) AS running FROM sheaf.responses r JOIN sheaf.conversations k ON k.key = r.conversation
    WHERE ${open} GROUP BY k.owner
  ), first AS MATERIALIZED (
    SELECT o.key, o.running FROM (
      SELECT o.key, o.id, o.owner, o.conversation, o.holder, o.not_before, COALESCE(b.running, 0) AS running,
        row_number() OVER (PARTITION BY o.conversation ORDER BY ${inOrder}) AS position
      FROM sheaf.orders o LEFT JOIN busy b ON b.owner = o.owner WHERE ${waits}
    ) o LEFT JOIN sheaf.conversations c ON c.id = o.conversation AND c.owner = o.owner
    WHERE o.position = 1 AND NOT (${isPaused}) AND o.running < ${maxRunning} AND ${isFree}
      AND NOT EXISTS (SELECT 1 FROM sheaf.responses r WHERE r.conversation = c.key AND ${open})
    ORDER BY o.running, o.key LIMIT ${raw(String(CANDIDATES))}
  )`;
}

interface Adding {
  readonly dialect: Dialect;
  readonly owner: string;
  /** True if an earlier try may have added the message, which may even have started. */
  readonly isDoubtful: boolean;
}

/** @throws SheafError CONVERSATION_BUSY, OVERLOADED. */
function* addMessage(
  { dialect, owner, isDoubtful }: Adding,
  { responseId, conversationId, text, request, steers = false }: WaitingMessage,
  maxWaiting: number,
): Statements<void> {
  // The locks make other processes count the messages of this owner and conversation before or after this insert.
  yield* lock(dialect, `waiting ${owner}`, conversationId, ...(request ? [toRequestLock(owner, request.key)] : []));
  const known = sql`SELECT 1 FROM sheaf.orders WHERE id = ${responseId}
    UNION ALL SELECT 1 FROM sheaf.responses WHERE id = ${responseId}
    UNION ALL SELECT 1 FROM sheaf.requests WHERE owner = ${owner} AND key = ${toToldKey(responseId)}`;
  if (isDoubtful && (yield known).length > 0) return;
  const { key = null, digest = null } = request ?? {};
  const counted = sql`SELECT COUNT(*) FROM sheaf.orders o WHERE ${waits}`;
  const [found] = yield* step<{ owned: number; inConversation: number; isKnown: boolean | number }>(
    sql`SELECT (${counted} AND o.owner = ${owner}) AS owned,
      (${counted} AND o.conversation = ${conversationId}) AS "inConversation",
      EXISTS (SELECT 1 FROM sheaf.requests WHERE owner = ${owner} AND key = ${key}) OR
      EXISTS (SELECT 1 FROM sheaf.orders o WHERE o.owner = ${owner} AND o.request_key = ${key} AND ${isStored}) AS "isKnown"`,
  );
  if (found!.owned >= maxWaiting) throw createWaitingLimitError();
  if (found!.isKnown || found!.inConversation >= MAX_WAITING) throw createFullError(conversationId);
  yield sql`INSERT INTO sheaf.orders (id, owner, conversation, body, request_key, request_digest, steers)
    VALUES (${responseId}, ${owner}, ${conversationId}, ${text}, ${key}, ${digest}, ${steers})`;
}
