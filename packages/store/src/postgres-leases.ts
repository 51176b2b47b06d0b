/** One writer per conversation, across all processes of a database: leases with a growing number. */
import { gatherReads } from "./gather-reads.ts";
import { createBusyError, type LeaseState, type OpenResponse } from "./store.ts";
import type { PostgresConnection, Query } from "./postgres-connection.ts";
import { isHolderAlive, type PostgresSession } from "./postgres-session.ts";

/** A conversation and the number of a lease of it. */
export interface PostgresLease {
  readonly conversationId: string;
  /** Key of the conversation's row. */
  readonly conversation: number;
  readonly fence: number;
}

/** Takes the lease of the conversation; see `takeLease`. */
type TakeLease = () => Promise<PostgresLease | undefined>;

/**
 * The leases that this process uses. It takes the leases of one conversation one after the other. If the database has a
 * lease with the number of this process that is missing here, the answer of its transaction was lost, or its response
 * could not be written. Then this process takes it again.
 */
export function createOwnLeases({ transact }: PostgresConnection, session: PostgresSession) {
  /** Numbers of leases, by conversation. */
  const fences = new Map<string, number>();
  const taking = new Map<string, Promise<unknown>>();
  const has = ({ conversationId, fence }: Pick<PostgresLease, "conversationId" | "fence">): boolean =>
    fences.get(conversationId) === fence;
  return {
    /** Returns the numbers of leases by conversation, as a JSON object. */
    list: (): string => JSON.stringify(Object.fromEntries(fences)),
    /**
     * Runs a transaction that may take a conversation's lease. `toLease` returns the lease that its result uses until
     * `forget`.
     */
    async transact<Result>(
      { conversationId, owner }: { readonly conversationId: string; readonly owner: string },
      action: (query: Query, take: TakeLease, isDoubtful: boolean) => Promise<Result>,
      toLease: (result: Result) => PostgresLease | undefined,
    ): Promise<Result> {
      const before = taking.get(conversationId);
      const own = Promise.withResolvers<void>();
      taking.set(conversationId, own.promise);
      await before;
      try {
        const result = await transact((query, isDoubtful) => {
          const known = fences.get(conversationId);
          return action(query, () => takeLease(query, session, { conversationId, owner, known }), isDoubtful);
        });
        const lease = toLease(result);
        if (lease) fences.set(conversationId, lease.fence);
        return result;
      } finally {
        if (taking.get(conversationId) === own.promise) taking.delete(conversationId);
        own.resolve();
      }
    },
    has,
    /** Removes a lease that ended or can no longer write. */
    forget(lease: PostgresLease): void {
      if (has(lease)) fences.delete(lease.conversationId);
    },
  };
}

export type OwnLeases = ReturnType<typeof createOwnLeases>;

const isFree = (quiet: string): string => `(c.holder IS NULL OR NOT ${isHolderAlive("c.holder", quiet)})`;

interface WantedLease {
  readonly conversationId: string;
  readonly owner: string;
  /** Number of the lease that this process knows it has. */
  readonly known: number | undefined;
}

/**
 * Takes the lease of a conversation, within a transaction. Returns undefined if the conversation doesn't exist.
 * Waits for the last writer's statement. A cancel that a dead writer didn't see applies to the next one.
 * @throws SheafError CONVERSATION_BUSY.
 */
async function takeLease(
  query: Query,
  { holder, mayTakeOver, listQuiet }: PostgresSession,
  { conversationId, owner, known }: WantedLease,
): Promise<PostgresLease | undefined> {
  const [lease] = await query<Omit<PostgresLease, "conversationId">>(
    `UPDATE sheaf.conversations c SET fence = fence + 1, holder = $1, cancel = cancel AND holder IS NOT NULL
     WHERE id = $2 AND owner = $3
       AND (c.holder IS NULL OR ($4 AND ${isFree("$6")}) OR (c.holder = $1 AND c.fence IS DISTINCT FROM $5::bigint))
     RETURNING key AS conversation, fence`,
    [holder, conversationId, owner, mayTakeOver, known ?? null, listQuiet()],
  );
  if (lease) return { ...lease, conversationId };
  const values = [conversationId, owner];
  const [found] = await query("SELECT 1 FROM sheaf.conversations WHERE id = $1 AND owner = $2", values);
  if (found) throw createBusyError(conversationId);
  return undefined;
}

export async function releaseLease(query: Query, { conversation, fence }: PostgresLease): Promise<void> {
  await query("UPDATE sheaf.conversations SET holder = NULL, cancel = false WHERE key = $1 AND fence = $2", [
    conversation,
    fence,
  ]);
}

/** A lease, with its response. */
interface KeptLease {
  readonly lease: PostgresLease;
  readonly responseId: string;
}

/** Pause between two calls for the same question, because a watcher may read the lease again. Milliseconds. */
const CALL_MS = 1000;

/**
 * Reads all leases of a process in one statement, to learn the requests of other processes; the session renews them. If
 * a question waits for a response, the reader calls back the watchers of the response.
 */
export function createLeaseReader(
  { query }: PostgresConnection,
  { tell }: PostgresSession,
): (lease: KeptLease) => Promise<LeaseState> {
  const called = new WeakMap<PostgresLease, number>();
  return gatherReads(
    (leases: readonly KeptLease[]) =>
      query<{ place: number; cancel: boolean; isAsked: boolean }>(
        `SELECT i.place, c.cancel, EXISTS (SELECT 1 FROM sheaf.responses r JOIN sheaf.letters l ON l.response = r.key
           WHERE r.id = i.response AND NOT l.taken) AS "isAsked"
         FROM unnest($1::bigint[], $2::bigint[], $3::text[]) WITH ORDINALITY AS i (conversation, fence, response, place)
         JOIN sheaf.conversations c ON c.key = i.conversation AND c.fence = i.fence AND c.holder IS NOT NULL`,
        [
          leases.map(({ lease }) => lease.conversation),
          leases.map(({ lease }) => lease.fence),
          leases.map(({ responseId }) => responseId),
        ],
      ),
    ([row], { lease, responseId }) => {
      if (!row) return "lost";
      if (row.isAsked && performance.now() - (called.get(lease) ?? -CALL_MS) >= CALL_MS) {
        called.set(lease, performance.now());
        tell(responseId);
      }
      return row.cancel ? "cancel" : "kept";
    },
  );
}

/** Purpose of a claim on a response without a writer. */
export type ClaimPurpose = "end" | "continue";

/** Number of times that another process may continue a response, so that a fatal one can't end all processes. */
const MAX_TRIES = 3;

/** Time that others have to continue a response after its process died, before any may end it. Milliseconds. */
export const CONTINUE_MS = 20_000;

/** The same time, after the process's last sign of life: it is dead 10 s later at the latest. Milliseconds. */
const LOST_MS = CONTINUE_MS + 10_000;

const mayContinue = `EXISTS (SELECT 1 FROM sheaf.orders o WHERE o.response = r.key AND o.resumes AND o.tries < ${MAX_TRIES})`;

const claimable: Readonly<Record<ClaimPurpose, string>> = {
  continue: mayContinue,
  end: `NOT (${mayContinue} AND EXISTS (SELECT 1 FROM sheaf.holders d WHERE d.id = c.holder AND d.id <> ALL ($5::bigint[])))`,
};

/** A response without an end, and perhaps without a living writer. */
interface Claimable {
  readonly conversationId: string;
  /** True if this process has the lease, but doesn't use it. */
  readonly isOwn: boolean;
  /** True if the purpose allows the claim. */
  readonly isFitting: boolean;
  /** Message by which another process continues the response. */
  readonly text: string | null;
}

/**
 * Lists responses of all owners without an end and a living writer. Each process gets another order, because all take
 * over at the same time.
 */
export const listClaimable = (
  { query }: PostgresConnection,
  { holder, listQuiet }: PostgresSession,
  leases: OwnLeases,
): Promise<readonly OpenResponse[]> =>
  query<OpenResponse>(
    `WITH alive AS MATERIALIZED (SELECT o.id FROM sheaf.holders o WHERE ${isHolderAlive("o.id", "$2")})
     SELECT r.id, c.owner FROM sheaf.responses r JOIN sheaf.conversations c ON c.key = r.conversation
     WHERE NOT r.ended AND CASE WHEN c.holder = $1 THEN (c.id, c.fence) NOT IN (SELECT key, value::bigint FROM json_each_text($3::json))
       ELSE c.holder IS NULL OR c.holder NOT IN (SELECT id FROM alive) END
     ORDER BY hashint8(r.key # $1)`,
    [holder, listQuiet(), leases.list()],
  );

/** Returns undefined if it has ended, has a living writer, or doesn't exist. So most claims need no lock. */
export async function findClaimable(
  query: Query,
  { holder, listQuiet }: PostgresSession,
  leases: OwnLeases,
  wanted: { readonly responseId: string; readonly owner: string; readonly purpose: ClaimPurpose },
): Promise<Claimable | undefined> {
  const { responseId, owner, purpose } = wanted;
  const [row] = await query<Claimable & { readonly fence: number }>(
    `SELECT c.id AS "conversationId", c.fence, COALESCE(c.holder = $3, false) AS "isOwn", ${claimable[purpose]} AS "isFitting",
       (SELECT o.body FROM sheaf.orders o WHERE o.response = r.key) AS text
     FROM sheaf.responses r JOIN sheaf.conversations c ON c.key = r.conversation
     WHERE r.id = $1 AND c.owner = $2 AND NOT r.ended AND (c.holder = $3 OR ${isFree("$4")})`,
    [responseId, owner, holder, listQuiet(), ...(purpose === "end" ? [listQuiet(LOST_MS)] : [])],
  );
  return row && !(row.isOwn && leases.has(row)) ? row : undefined;
}
