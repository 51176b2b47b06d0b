/** One writer per conversation, across all processes of a machine: leases with a number that only grows. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { isAlive, readProcessNamespace } from "@sheaf/base/process-numbers";
import { createBusyError, type LeaseState } from "./store.ts";
import type { SqliteConnection } from "./sqlite-connection.ts";

/** Time that a lease lasts without renewal. Milliseconds. */
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

/** The clocks that leases use. Milliseconds. */
export interface LeaseClocks {
  /** Wall clock, since 1970, which two machines share. */
  readonly now: () => number;
  /** Clock of all processes on this machine. A change of the time doesn't end or prolong a lease. */
  readonly uptime: () => number;
}

const machineClocks: LeaseClocks = { now: Date.now, uptime: readUptime };

/** Creates the leases. The caller opens a transaction for everything except `keep`. */
export function createLeases(connection: SqliteConnection, clocks: Partial<LeaseClocks> = {}) {
  const { now, uptime } = { ...machineClocks, ...clocks };
  const holder = createLeaseHolder();
  /** Numbers of the leases that this process uses, by the keys of their conversations. */
  const fences = new Map<number, number>();

  const forget = ({ conversation, fence }: Lease): void => {
    if (fences.get(conversation) === fence) fences.delete(conversation);
  };

  const find = (conversationId: string, owner: string): LeaseRow | undefined =>
    connection
      .prepare(
        "SELECT key, fence, lease_holder AS holder, lease_until AS until FROM conversations WHERE id = ? AND owner = ?",
      )
      .get(conversationId, owner) as LeaseRow | undefined;

  const checkFree = (row: LeaseRow, conversationId: string): void => {
    if (row.holder === null || (holder.isOwn(row.holder) && fences.get(row.key) !== row.fence)) return;
    const seen = holder.look(row.holder);
    if (seen?.isGone) return;
    const rest = seen?.until === undefined ? row.until - now() : seen.until - uptime();
    // A rest longer than any lease means that the clock was set back, or restarted.
    if (rest > 0 && rest <= LEASE_MS) throw createBusyError(conversationId);
  };

  return {
    /** Returns undefined if the conversation doesn't exist. @throws SheafError CONVERSATION_BUSY. */
    take(conversationId: string, owner: string): Lease | undefined {
      const row = find(conversationId, owner);
      if (!row) return undefined;
      checkFree(row, conversationId);
      const fence = row.fence + 1;
      connection
        .prepare("UPDATE conversations SET fence = ?, lease_holder = ?, lease_until = ?, cancel = 0 WHERE key = ?")
        .run(fence, holder.toName(uptime() + LEASE_MS), now() + LEASE_MS, row.key);
      fences.set(row.key, fence);
      return { conversation: row.key, fence };
    },
    /** Returns false if the conversation doesn't exist. @throws SheafError CONVERSATION_BUSY. */
    check(conversationId: string, owner: string): boolean {
      const row = find(conversationId, owner);
      if (row) checkFree(row, conversationId);
      return row !== undefined;
    },
    release({ conversation, fence }: Lease): void {
      connection
        .prepare(
          "UPDATE conversations SET lease_holder = NULL, lease_until = 0, cancel = 0 WHERE key = ? AND fence = ?",
        )
        .run(conversation, fence);
      forget({ conversation, fence });
    },
    /** Lets this process take the lease again. */
    forget,
    keep({ conversation, fence }: Lease): LeaseState {
      const row = connection
        .prepare(
          "UPDATE conversations SET lease_holder = ?, lease_until = ? WHERE key = ? AND fence = ? RETURNING cancel",
        )
        .get(holder.toName(uptime() + LEASE_MS), now() + LEASE_MS, conversation, fence) as
        | { cancel: number }
        | undefined;
      if (!row) return "lost";
      return row.cancel === 1 ? "cancel" : "kept";
    },
    requestCancel(responseId: string, owner: string): void {
      connection
        .prepare(
          `UPDATE conversations SET cancel = 1 WHERE lease_holder IS NOT NULL AND owner = ?
           AND key = (SELECT conversation FROM responses WHERE id = ? AND ended = 0)`,
        )
        .run(owner, responseId);
    },
  };
}

export type Leases = ReturnType<typeof createLeases>;

interface SeenHolder {
  /** True if the process has certainly ended. */
  readonly isGone: boolean;
  /** End of the lease in the holder's name, if the name has one. */
  readonly until: number | undefined;
}

/** Parts of a name: machine and process namespace, process id, start of the process, store id, end of the lease. */
const NAME = /^(.*)\|(\d+)\|(\d*)\|[^|@]+(?:@(\d+))?$/s;

/** Milliseconds of a clock that all processes of this machine share, and that setting the time doesn't change. */
export function readUptime(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/** Creates the names of this store as a lease holder. Two stores in one process are two writers. */
function createLeaseHolder() {
  const place = `${hostname()} ${readProcessNamespace()}`;
  const own = `${place}|${process.pid}|${readStart(process.pid)}|${randomUUID()}`;
  return {
    /** Returns the name for a lease that lasts until then. Milliseconds by `readUptime`. */
    toName: (until: number): string => `${own}@${until}`,
    isOwn: (name: string): boolean => name.startsWith(`${own}@`),
    /** Looks up the holder with that name on this machine. Returns undefined if it is on another machine. */
    look(name: string): SeenHolder | undefined {
      const [, otherPlace, processId, start, until] = NAME.exec(name) ?? [];
      if (otherPlace !== place) return undefined;
      return { isGone: isGone(Number(processId), start), until: until === undefined ? undefined : Number(until) };
    },
  };
}

function isGone(processId: number, start: string | undefined): boolean {
  // Process ids are reused.
  return !isAlive(processId) || (start !== "" && start !== readStart(processId));
}

/** Start of a process, in ticks since boot; "" if the system doesn't show it. */
function readStart(processId: number): string {
  try {
    const stat = readFileSync(`/proc/${processId}/stat`, "latin1");
    // The name of the program, in brackets, may contain anything.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  } catch {
    return "";
  }
}
