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
  /** The last event that its earlier writer stored; undefined: it began here. */
  readonly takenAt?: number | undefined;
  /** Settles when the last append has. */
  written: Promise<unknown>;
}

/** No log is open yet. */
export function createPostgresLogs(connection: PostgresConnection, session: PostgresSession, leases: OwnLeases) {
  const logs = createOpenLogs<LeasedLog>();
  const appends = createAppendQueue(
    connection,
    (names) => session.publish(names),
    () => session.announce(waitingNotice),
  );

  const readLease = createLeaseReader(connection, session);
  const readNew = createLogReader(connection);
  /** What is new of logs does not wait for long ones. */
  const readFromStart = createLogReader(connection);
  /** When responses with an unused lease of this process were first not ended, so that they may go on; milliseconds of `performance`. */
  const spared = new Map<string, number>();
  /** Responses that this process took over, and could store nothing of. */
  const fruitless = new Set<string>();
  let hasLetGo = false;

  /** What a log adds up to that ends with these events. One that is damaged has an empty digest: it must end all the same. */
  const readDigest = async (responseId: string, owner: string, last: readonly RunEvent[]): Promise<LogDigest> => {
    try {
      const events = await readFromStart({ responseId, owner, after: 0, limit: MAX_SEQ });
      return digestLog([...events, ...last]);
    } catch (error) {
      // JSON that is no log fails in the digest itself.
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

  /** Returns true if a response may be ended now: other processes had the time to continue it. */
  const hadTime = (isOwn: boolean, responseId: string): boolean => {
    if (!isOwn) return false;
    const since = spared.get(responseId) ?? performance.now();
    spared.set(responseId, since);
    return performance.now() - since >= CONTINUE_MS;
  };

  return {
    list: () => listClaimable(connection, session, leases),
    /** The message by which this process may continue a response now. */
    async findCut(responseId: string, owner: string): Promise<string | undefined> {
      const wanted = { responseId, owner, purpose: "continue" } as const;
      const found = await findClaimable(connection.query, session, leases, wanted);
      // Its own it may take at once: nobody else can be writing it.
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

    /** `purpose`: what will happen with it; one that another process may continue is not ended. */
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
    /** @throws SheafError INTERNAL for a response that is not written here. */
    findLease: (responseId: string, owner: string): PostgresLease => logs.find(responseId, owner).lease,
    keep: async (responseId: string, owner: string): Promise<LeaseState> =>
      hasLetGo ? "lost" : readLease({ lease: logs.find(responseId, owner).lease, responseId }),

    async append(responseId: string, owner: string, written: readonly RunEvent[]): Promise<void> {
      const events = encodeEvents(written);
      if (!events) return;
      if (hasLetGo) throw createLostError(responseId);
      const log = logs.find(responseId, owner);
      checkNext(responseId, log, events);
      // Later appends follow this one, also those that come before it is stored.
      log.lastSeq = events.lastSeq;
      try {
        // What was not waited for must be stored before the log can be read.
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
        // Perhaps another process goes on already.
        throw isBusyError(error) ? error : createUnstoredError(responseId, error);
      }
      if (events.endsLog) leave(responseId, owner);
    },

    read: (responseId: string, owner: string, after: number, limit: number): Promise<readonly RunEvent[]> =>
      (after > 0 ? readNew : readFromStart)({ responseId, owner, after, limit }),
    /** Resolves when nothing is being written. */
    settle: () => appends.settle(),
    /** From now on nothing is written; resolves when nothing is being written. Others who continue do not count it as a try. */
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

/** As for a lost lease: readers must get what is stored in the end, not what this process would have said. */
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

/** Within a transaction. @throws SheafError CONVERSATION_BUSY, USAGE. */
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

/** The response as an earlier try of its transaction stored it; undefined: none did. Its conversation is locked. */
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

/** Within a transaction: whoever begins a response of this owner meanwhile waits for its end. @throws RunningLimitError. */
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
  /** It is one of the tries of R-40. */
  readonly isTry: boolean;
}

/** Within a transaction. Undefined: it has ended, has a writer, or does not exist. */
async function takeOver(
  query: Query,
  take: () => Promise<PostgresLease | undefined>,
  { responseId, owner, isTry }: TakeOver,
): Promise<LeasedLog | undefined> {
  try {
    // From here on the last writer can store nothing more, so what is read next stays true.
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

/** What is wanted of one log. */
interface LogRead {
  readonly responseId: string;
  readonly owner: string;
  /** Number of the last event that is known. */
  readonly after: number;
  readonly limit: number;
}

// Groups follow each other without a gap, so the first numbers tell how many events there are. Only the group with event
// `after` may contain later ones.
const selectGroups = `
  SELECT i.place, g.events FROM unnest($1::text[], $2::text[], $3::int[], $4::int[]) WITH ORDINALITY
    AS i (id, owner, after, last, place)
  JOIN sheaf.responses r ON r.id = i.id JOIN sheaf.conversations c ON c.key = r.conversation AND c.owner = i.owner
  CROSS JOIN LATERAL (
    SELECT e.first_seq, e.events FROM sheaf.event_groups e WHERE e.response = r.key AND e.last_seq > i.after
      AND e.first_seq <= i.last AND e.first_seq >= COALESCE(
        (SELECT MAX(f.first_seq) FROM sheaf.event_groups f WHERE f.response = r.key AND f.first_seq <= i.after), 0)) g
  ORDER BY i.place, g.first_seq`;

/** Reads of more events may be whole logs, of which the memory should hold few at once. */
const MAX_EVENTS = 10_000;
const MAX_WHOLE = 4;

/** A log that is damaged fails alone. */
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
