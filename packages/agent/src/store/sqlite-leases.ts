/** One writer a conversation, over all processes of a machine: leases with a number that only grows. */
import { createBusyError, type LeaseState } from "./store.ts";
import { createLeaseHolder, readUptime, type LeaseHolder } from "./lease-holder.ts";
import type { SqliteConnection } from "./sqlite-connection.ts";

/** How long a lease holds when its writer says nothing. Milliseconds. */
const LEASE_MS = 10_000;

/** A conversation and the number of a lease of it. */
export interface Lease {
  readonly conversation: number;
  readonly fence: number;
}

interface LeaseRow {
  readonly key: number;
  readonly fence: number;
  readonly holder: string | null;
  readonly until: number;
}

/** All within a transaction of the caller, but `keep`. */
export interface Leases {
  /**
   * Takes the lease of a conversation; undefined: the conversation does not exist.
   * @throws SheafError CONVERSATION_BUSY.
   */
  take(conversationId: string, owner: string): Lease | undefined;
  /** @throws SheafError CONVERSATION_BUSY; false: the conversation does not exist. */
  check(conversationId: string, owner: string): boolean;
  release(lease: Lease): void;
  keep(lease: Lease): LeaseState;
  requestCancel(responseId: string, owner: string): void;
}

/** The clocks that leases go by. Milliseconds. */
export interface LeaseClocks {
  /** Wall clock, since 1970: what two machines share. */
  readonly now: () => number;
  /** What the processes of this machine share: when its time is set, no lease is lost, and none lives on. */
  readonly uptime: () => number;
}

const machineClocks: LeaseClocks = { now: Date.now, uptime: readUptime };

export function createLeases(connection: SqliteConnection, clocks: Partial<LeaseClocks> = {}): Leases {
  const { now, uptime } = { ...machineClocks, ...clocks };
  /** Made when it is needed: those who only read are no writers. */
  let made: LeaseHolder | undefined;
  const getHolder = (): LeaseHolder => (made ??= createLeaseHolder());

  const find = (conversationId: string, owner: string): LeaseRow | undefined =>
    connection
      .prepare(
        "SELECT key, fence, lease_holder AS holder, lease_until AS until FROM conversations WHERE id = ? AND owner = ?",
      )
      .get(conversationId, owner) as LeaseRow | undefined;

  const checkFree = (row: LeaseRow, conversationId: string): void => {
    if (row.holder === null) return;
    const seen = getHolder().look(row.holder);
    if (seen?.isGone) return;
    const rest = seen?.until === undefined ? row.until - now() : seen.until - uptime();
    // A rest that is longer than any lease comes from a clock that was set back, or began anew.
    if (rest > 0 && rest <= LEASE_MS) throw createBusyError(conversationId);
  };

  return {
    take(conversationId, owner) {
      const row = find(conversationId, owner);
      if (!row) return undefined;
      checkFree(row, conversationId);
      const fence = row.fence + 1;
      connection
        .prepare("UPDATE conversations SET fence = ?, lease_holder = ?, lease_until = ?, cancel = 0 WHERE key = ?")
        .run(fence, getHolder().toName(uptime() + LEASE_MS), now() + LEASE_MS, row.key);
      return { conversation: row.key, fence };
    },
    check(conversationId, owner) {
      const row = find(conversationId, owner);
      if (row) checkFree(row, conversationId);
      return row !== undefined;
    },
    release({ conversation, fence }) {
      connection
        .prepare(
          "UPDATE conversations SET lease_holder = NULL, lease_until = 0, cancel = 0 WHERE key = ? AND fence = ?",
        )
        .run(conversation, fence);
    },
    keep({ conversation, fence }) {
      const row = connection
        .prepare(
          "UPDATE conversations SET lease_holder = ?, lease_until = ? WHERE key = ? AND fence = ? RETURNING cancel",
        )
        .get(getHolder().toName(uptime() + LEASE_MS), now() + LEASE_MS, conversation, fence) as
        | { cancel: number }
        | undefined;
      if (!row) return "lost";
      return row.cancel === 1 ? "cancel" : "kept";
    },
    requestCancel(responseId, owner) {
      connection
        .prepare(
          `UPDATE conversations SET cancel = 1 WHERE lease_holder IS NOT NULL AND owner = ?2
           AND key = (SELECT conversation FROM responses WHERE id = ?1 AND ended = 0)`,
        )
        .run(responseId, owner);
    },
  };
}
