/** One writer per conversation, across all processes of a database: leases with a number that only grows. */
import { createBusyError, type LeaseState } from "./store.ts";
import type { Query } from "./postgres-connection.ts";
import { isHolderAlive, type PostgresSession } from "./postgres-session.ts";

/** A conversation and the number of a lease of it. */
export interface PostgresLease {
  readonly conversation: number;
  readonly fence: number;
}

/** The process that takes a lease, perhaps from a dead one. */
export type LeaseTaker = Pick<PostgresSession, "holder" | "mayTakeOver" | "listQuiet"> & {
  /** Its own, if it could not write by it: it may take it again. */
  readonly own?: PostgresLease | undefined;
};

/** A lease that its holder keeps, although it stopped to write: nobody else can know. */
export interface AbandonedLease extends PostgresLease {
  /** Others, and this process itself, had the time to go on with the response. */
  mayEnd: boolean;
}

const isFree = (quiet: string): string => `(c.holder IS NULL OR NOT ${isHolderAlive("c.holder", quiet)})`;

/**
 * Takes the lease of a conversation, within a transaction; undefined: the conversation does not exist.
 * Waits for what the last writer is storing at this moment. A cancel that a dead one did not see is for the next.
 * @throws SheafError CONVERSATION_BUSY.
 */
export async function takeLease(
  query: Query,
  { holder, mayTakeOver, listQuiet, own }: LeaseTaker,
  conversationId: string,
  owner: string,
): Promise<PostgresLease | undefined> {
  const [lease] = await query<PostgresLease>(
    `UPDATE sheaf.conversations c SET fence = fence + 1, holder = $1, cancel = cancel AND holder IS NOT NULL
     WHERE id = $2 AND owner = $3 AND (c.holder IS NULL OR ($4 AND ${isFree("$6")}) OR (c.holder = $1 AND c.fence = $5))
     RETURNING key AS conversation, fence`,
    [holder, conversationId, owner, mayTakeOver, own?.fence ?? null, listQuiet()],
  );
  if (lease) return lease;
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

/** The process proves by itself that it is alive; here it learns what the others want. */
export async function readLeaseState(query: Query, { conversation, fence }: PostgresLease): Promise<LeaseState> {
  const [row] = await query<{ cancel: boolean }>(
    "SELECT cancel FROM sheaf.conversations WHERE key = $1 AND fence = $2 AND holder IS NOT NULL",
    [conversation, fence],
  );
  if (!row) return "lost";
  return row.cancel ? "cancel" : "kept";
}

/** What a response without a writer is claimed for. */
export type ClaimPurpose = "end" | "resume";

/** How often a response may go on elsewhere: one that takes its processes with it must not take them all. */
const MAX_TRIES = 3;

/** How long others have to go on with it, after its process counts as dead, before anyone may end it. Milliseconds. */
export const RESUME_MS = 20_000;

/** The same after the last sign of life of its process, which counts as dead 10 s later at the latest. Milliseconds. */
const LOST_MS = RESUME_MS + 10_000;

const mayResume = `EXISTS (SELECT 1 FROM sheaf.orders o WHERE o.response = r.key AND o.resumes AND o.tries < ${MAX_TRIES})`;

const claimable: Readonly<Record<ClaimPurpose, string>> = {
  resume: mayResume,
  end: `NOT (${mayResume} AND EXISTS (SELECT 1 FROM sheaf.holders d WHERE d.id = c.holder AND d.id <> ALL ($7::bigint[])))`,
};

interface Claim extends Pick<PostgresSession, "holder" | "listQuiet"> {
  readonly owner: string;
  readonly purpose: ClaimPurpose;
  readonly own: AbandonedLease | undefined;
}

/** Whether a response has no end and perhaps no living writer: so that most claims need no lock. */
export async function isClaimable(
  query: Query,
  responseId: string,
  { owner, purpose, holder, listQuiet, own }: Claim,
): Promise<boolean> {
  const rows = await query(
    `SELECT 1 FROM sheaf.responses r JOIN sheaf.conversations c ON c.key = r.conversation
     WHERE r.id = $1 AND c.owner = $2 AND NOT r.ended AND (${isFree("$6")} OR (c.holder = $3 AND c.fence = $4))
       AND (${claimable[purpose]} OR ($5 AND c.holder = $3 AND c.fence = $4))`,
    [
      responseId,
      owner,
      holder,
      own?.fence ?? null,
      own?.mayEnd ?? false,
      listQuiet(),
      ...(purpose === "end" ? [listQuiet(LOST_MS)] : []),
    ],
  );
  return rows.length > 0;
}
