/** The logs of responses in PostgreSQL: create, claim, append, read. */
import type { RunEvent } from "@sheaf/protocol";
import { SheafError } from "@sheaf/base/errors";
import { decodeEvents, encodeEvents } from "./encode-events.ts";
import { digestLog, type LogDigest } from "./log-digest.ts";
import { gatherReads } from "./gather-reads.ts";
import { createAppendQueue } from "./postgres-appends.ts";
import type { PostgresConnection, Query } from "./postgres-connection.ts";
import { checkNext, createOpenLogs, type OpenLog } from "./open-logs.ts";
import { postgresDialect, runPostgres, runPostgresScript, toColumn } from "./postgres-database.ts";
import {
  type ClaimPurpose,
  createLeaseReader,
  findClaimable,
  listClaimable,
  type OwnLeases,
  type PostgresLease,
  CONTINUE_MS,
} from "./postgres-leases.ts";
import { waitingNotice } from "./postgres-waiting.ts";
import { beginMessage } from "./sql-waiting.ts";
import type { PostgresSession } from "./postgres-session.ts";
import { type AddedResponse, insertResponse, toConversationInsert } from "./sql-rows.ts";
import {
  createLostError,
  createTakenError,
  isBusyError,
  RunningLimitError,
  type LeaseState,
  type NewResponse,
  type ResponseRecord,
} from "./store.ts";

interface LeasedLog extends OpenLog {
  readonly lease: PostgresLease;
  /** Number of the last event from the earlier writer; undefined: the response started here. */
  readonly takenAt?: number | undefined;
  /** Settles with the last append. */
  written: Promise<unknown>;
}

/** Creates a table of the open logs of this process. */
export function createPostgresLogs(connection: PostgresConnection, session: PostgresSession, leases: OwnLeases) {
  const logs = createOpenLogs<LeasedLog>();
  const appends = createAppendQueue(
    connection,
    (names) => session.publish(names),
    () => session.announce(waitingNotice),
  );

  const readLease = createLeaseReader(connection, session);
  const readNew = createLogReader(connection);
  /** A second reader for whole logs, so that reads of new events don't wait for long logs. */
  const readFromStart = createLogReader(connection);
  /**
   * Times since when other processes may continue a response whose lease this process has, but doesn't use.
   * Milliseconds of `performance`.
   */
  const spared = new Map<string, number>();
  /** Responses that this process took over without storing an event. */
  const fruitless = new Set<string>();
  let hasLetGo = false;

  /** Digests the log that ends with these events. A damaged log gets an empty digest, because its response must end. */
  const readDigest = async (responseId: string, owner: string, last: readonly RunEvent[]): Promise<LogDigest> => {
    try {
      const events = await readFromStart({ responseId, owner, after: 0, limit: MAX_SEQ });
      return digestLog([...events, ...last]);
    } catch (error) {
      // JSON that isn't a log fails in the digest itself.
      if (error instanceof SheafError && error.code !== "STORAGE_CORRUPT") throw error;
      return digestLog([]);
    }
  };

  const leave = (responseId: string, owner: string): void => {
    const log = logs.remove(responseId, owner);
    if (!log) return;
    leases.forget(log.lease);
    if (log.lastSeq === log.takenAt) fruitless.add(responseId);
  };

  /** Returns true if this process may end a response now, because others had the time to continue it. */
  const hadTime = (isOwn: boolean, responseId: string): boolean => {
    if (!isOwn) return false;
    const since = spared.get(responseId) ?? performance.now();
    spared.set(responseId, since);
    return performance.now() - since >= CONTINUE_MS;
  };

  return {
    list: () => listClaimable(connection, session, leases),
    /** Returns the message by which this process may continue a response now. */
    async findCut(responseId: string, owner: string): Promise<string | undefined> {
      const wanted = { responseId, owner, purpose: "continue" } as const;
      const found = await findClaimable(connection.query, session, leases, wanted);
      // This process may take its own response at once: no other process can write it.
      return found?.isFitting && (found.isOwn || session.mayTakeOver) ? (found.text ?? undefined) : undefined;
    },
    async create(response: NewResponse, owner: string): Promise<ResponseRecord> {
      if (hasLetGo) throw createLeavingError();
      const { record, log } = await leases.transact(
        { conversationId: response.conversationId, owner },
        (query, take, isDoubtful) =>
          beginResponse(query, take, response, { owner, holder: session.holder, isDoubtful }),
        (result) => result.log.lease,
      );
      logs.add(response.id, log);
      return record;
    },

    /** Claims a response for a purpose. To `end` it fails while another process may continue it. */
    async claim(responseId: string, owner: string, purpose: ClaimPurpose): Promise<boolean> {
      if (hasLetGo) return false;
      const found = await findClaimable(connection.query, session, leases, { responseId, owner, purpose });
      if (!found || !(found.isFitting || (purpose === "end" && hadTime(found.isOwn, responseId)))) return false;
      const log = await leases.transact(
        { conversationId: found.conversationId, owner },
        (query, take) =>
          takeOver(query, take, { responseId, owner, isTry: !fruitless.delete(responseId) || !found.isOwn }),
        (result) => result?.lease,
      );
      spared.delete(responseId);
      if (!log) return false;
      logs.add(responseId, log);
      return true;
    },

    /** Ends the writing of a response in this process, if there was any. */
    leave,
    /** @throws SheafError INTERNAL for a response that this process doesn't write. */
    findLease: (responseId: string, owner: string): PostgresLease => logs.find(responseId, owner).lease,
    keep: async (responseId: string, owner: string): Promise<LeaseState> =>
      hasLetGo ? "lost" : readLease({ lease: logs.find(responseId, owner).lease, responseId }),

    async append(responseId: string, owner: string, written: readonly RunEvent[]): Promise<void> {
      const events = encodeEvents(written);
      if (!events) return;
      if (hasLetGo) throw createLostError(responseId);
      const log = logs.find(responseId, owner);
      checkNext(responseId, log, events);
      // Later appends follow this one, even before it is stored.
      log.lastSeq = events.lastSeq;
      try {
        // Earlier appends must be stored before the log can be read.
        const digest = events.endsLog
          ? await log.written.then(() => readDigest(responseId, owner, written))
          : undefined;
        const { key: response, lease } = log;
        const [first] = written;
        const prompt = first?.type === "run_start" ? first.prompt : undefined;
        const writing = appends.write({ responseId, response, lease, events, prompt, digest });
        log.written = writing.catch(() => undefined);
        const isStored = await writing;
        if (!isStored) throw createLostError(responseId);
      } catch (error) {
        log.lastSeq = Math.min(log.lastSeq, events.firstSeq - 1);
        // Another process may continue the response already.
        throw isBusyError(error) ? error : createUnstoredError(responseId, error);
      }
      if (events.endsLog) leave(responseId, owner);
    },

    read: (responseId: string, owner: string, after: number, limit: number): Promise<readonly RunEvent[]> =>
      (after > 0 ? readNew : readFromStart)({ responseId, owner, after, limit }),
    /** Resolves when no write is pending. */
    settle: () => appends.settle(),
    /** Stops writing, and resolves once no write is pending. Takes back the tries of R-40 of all open responses. */
    async letGo(): Promise<void> {
      hasLetGo = true;
      await appends.settle();
      const keys = logs.list().map(({ key }) => key);
      await connection.transact(async (query, isDoubtful) => {
        if (isDoubtful) return;
        await query("UPDATE sheaf.orders SET tries = tries - 1 WHERE response = ANY ($1::bigint[])", [keys]);
      });
    },
  };
}

export type PostgresLogs = ReturnType<typeof createPostgresLogs>;

/** The error of a lost lease: readers must get the stored events, not an end that only this process knows. */
function createUnstoredError(responseId: string, cause: unknown): SheafError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `${responseId} could not be stored, so another process goes on with it, or ends it (${reason})`;
  return new SheafError("CONVERSATION_BUSY", message, { source: "storage", cause });
}

function createLeavingError(): SheafError {
  return new SheafError("OVERLOADED", "the server is going down: send the request again in a moment", {
    source: "server",
  });
}

/** Largest number of the column. */
const MAX_SEQ = 2 ** 31 - 1;

interface BegunResponse {
  readonly record: ResponseRecord;
  readonly log: LeasedLog;
}

/** Creates a response, within a transaction. @throws SheafError CONVERSATION_BUSY, USAGE. */
async function beginResponse(
  query: Query,
  take: () => Promise<PostgresLease | undefined>,
  response: NewResponse,
  { owner, holder, isDoubtful }: { readonly owner: string; readonly holder: number; readonly isDoubtful: boolean },
): Promise<BegunResponse> {
  const { id, conversationId, createdAt, cluster } = response;
  if (cluster) await checkRunning(query, owner, id, cluster.maxRunning);
  await runPostgres(query, toConversationInsert(postgresDialect, owner, response));
  const toBegun = ({ key, position, parent }: AddedResponse, lease: PostgresLease): BegunResponse => ({
    record: { id, conversationId, position, createdAt, lastSeq: 0, ended: false, reverted: false, parent },
    log: { key, owner, lease, lastSeq: 0, written: Promise.resolve() },
  });
  const begun = isDoubtful ? await findBegun(query, response, holder) : undefined;
  if (begun) return toBegun(begun, { ...begun, conversationId });
  const lease = await take();
  if (!lease) throw createTakenError(conversationId);
  const script = insertResponse(postgresDialect, owner, response, lease.conversation);
  const added = await runPostgresScript(query, script);
  await runPostgresScript(query, beginMessage(response, { response: added.key, holder, owner }));
  return toBegun(added, lease);
}

/** Finds the response if an earlier try of its transaction stored it. Its conversation is locked. */
async function findBegun(
  query: Query,
  { id }: NewResponse,
  holder: number,
): Promise<(AddedResponse & Pick<PostgresLease, "conversation" | "fence">) | undefined> {
  const [row] = await query<AddedResponse & Pick<PostgresLease, "conversation" | "fence">>(
    `SELECT r.key, r.position, r.parent, r.conversation, c.fence FROM sheaf.responses r
     JOIN sheaf.conversations c ON c.key = r.conversation WHERE r.id = $1 AND c.holder = $2`,
    [id, holder],
  );
  return row;
}

/** Checks the limit within a transaction; other starts of this owner wait for its end. @throws RunningLimitError. */
async function checkRunning(query: Query, owner: string, id: string, maxRunning: number): Promise<void> {
  await query("SELECT pg_advisory_xact_lock(hashtextextended($1, 1))", [owner]);
  const [row] = await query<{ count: number }>(
    `SELECT COUNT(*) AS count FROM sheaf.responses r JOIN sheaf.conversations c ON c.key = r.conversation
     WHERE NOT r.ended AND c.owner = $1 AND r.id <> $2`,
    [owner, id],
  );
  if (row!.count >= maxRunning) throw new RunningLimitError();
}

interface TakeOver {
  readonly responseId: string;
  readonly owner: string;
  /** True if the takeover is one of the tries of R-40. */
  readonly isTry: boolean;
}

/** Takes over a response, within a transaction. Undefined: it has ended, has a writer, or doesn't exist. */
async function takeOver(
  query: Query,
  take: () => Promise<PostgresLease | undefined>,
  { responseId, owner, isTry }: TakeOver,
): Promise<LeasedLog | undefined> {
  try {
    // The last writer can store no event from here on, so the next rows stay valid.
    const lease = await take();
    const [row] = await query<{ key: number; ended: boolean; lastSeq: number }>(
      `SELECT r.key, r.ended, ${postgresDialect.lastSeq} AS "lastSeq" FROM sheaf.responses r WHERE r.id = $1`,
      [responseId],
    );
    if (!lease || !row) return undefined;
    if (isTry) await query("UPDATE sheaf.orders SET tries = tries + 1 WHERE response = $1", [row.key]);
    const { key, lastSeq } = row;
    if (!row.ended) return { key, owner, lease, lastSeq, takenAt: lastSeq, written: Promise.resolve() };
    await query("UPDATE sheaf.conversations SET holder = NULL WHERE key = $1", [lease.conversation]);
    return undefined;
  } catch (error) {
    if (isBusyError(error)) return undefined;
    throw error;
  }
}

interface LogRead {
  readonly responseId: string;
  readonly owner: string;
  /** Number of the last event that the reader has. */
  readonly after: number;
  readonly limit: number;
}

// Groups follow each other without a gap, so the first numbers determine the number of events. Later events are in the
// group with event `after`, and in later groups.
const selectGroups = `
  SELECT i.place, g.events FROM unnest($1::text[], $2::text[], $3::int[], $4::int[]) WITH ORDINALITY
    AS i (id, owner, after, last, place)
  JOIN sheaf.responses r ON r.id = i.id JOIN sheaf.conversations c ON c.key = r.conversation AND c.owner = i.owner
  CROSS JOIN LATERAL (
    SELECT e.first_seq, e.events FROM sheaf.event_groups e WHERE e.response = r.key AND e.last_seq > i.after
      AND e.first_seq <= i.last AND e.first_seq >= COALESCE(
        (SELECT MAX(f.first_seq) FROM sheaf.event_groups f WHERE f.response = r.key AND f.first_seq <= i.after), 0)) g
  ORDER BY i.place, g.first_seq`;

/** Reads of more events may be whole logs, and the memory should contain few of these at once. */
const MAX_EVENTS = 10_000;
const MAX_WHOLE = 4;

/** Creates a reader in which a damaged log fails alone. */
function createLogReader(connection: PostgresConnection): (read: LogRead) => Promise<readonly RunEvent[]> {
  const gather = (most?: number) =>
    gatherReads(
      (reads: readonly LogRead[]) =>
        connection.query<{ place: number; events: string }>(selectGroups, [
          reads.map(({ responseId }) => toColumn(responseId)),
          reads.map(({ owner }) => owner),
          reads.map(({ after }) => after),
          reads.map(({ after, limit }) => Math.min(after + Math.max(limit, 1), MAX_SEQ)),
        ]),
      (rows, { after }) => {
        try {
          return decodeEvents(rows, after);
        } catch (error) {
          throw connection.toError(error);
        }
      },
      most,
    );
  const [readPart, readWhole] = [gather(), gather(MAX_WHOLE)];
  return (read) => (read.limit > MAX_EVENTS ? readWhole : readPart)(read);
}
