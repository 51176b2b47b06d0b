/**
 * The thread that writes the store of a server, so that waiting for the disk does not block the server's readers.
 * All appends of a message are one transaction, so that throughput grows with the load.
 */
import { closeSync, fdatasync, openSync } from "node:fs";
import { basename } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { toSheafError } from "@sheaf/base/errors";
import { silenceRuntimeWarnings } from "@sheaf/base/runtime-warnings";
import { createLeases } from "./sqlite-leases.ts";
import { createSqliteLogs } from "./sqlite-log.ts";
import { isRefusedBySqlite, openSqliteConnection } from "./sqlite-connection.ts";
import { createSqliteView } from "./sqlite.ts";
import type { SharedStore } from "./store.ts";
import type { PlainError, WorkerReply, WorkerRequest } from "./threaded-sqlite.ts";

type AppendRequest = Extract<WorkerRequest, { readonly kind: "append" }>;
type CallRequest = Extract<WorkerRequest, { readonly kind: "call" }>;

/** Number of settlings before a checkpoint of the WAL. */
const SETTLINGS = 2;

/** Pages of the WAL after which an append itself runs a checkpoint. */
const MAX_WAL_PAGES = 4000;

/** Pause after a failure. Milliseconds. */
const PAUSE_MS = 1000;

silenceRuntimeWarnings();
const port = parentPort!;
const connection = openSqliteConnection(workerData as string, basename(workerData as string));
const leases = createLeases(connection);
const logs = createSqliteLogs(connection, leases);
const parts = { connection, leases, logs };
const upkeep = createUpkeep(workerData as string);
/** Views of the store by owner: one per token. */
const views = new Map<string, SharedStore>();
const locks = new Map<number, () => Promise<void>>();

port.on("message", (requests: readonly WorkerRequest[]) => void answer(requests));

/** Handles requests in order, and adjacent appends together. */
async function answer(requests: readonly WorkerRequest[]): Promise<void> {
  const replies: WorkerReply[] = [];
  let appends: AppendRequest[] = [];
  for (const request of requests) {
    if (request.kind === "append") {
      appends.push(request);
      continue;
    }
    replies.push(...writeAppends(appends));
    appends = [];
    replies.push(await tryRequest(request));
  }
  replies.push(...writeAppends(appends));
  port.postMessage(replies);
  if (requests.at(-1)?.kind === "close") port.close();
  else upkeep.run();
}

function writeAppends(appends: readonly AppendRequest[]): WorkerReply[] {
  if (appends.length === 0) return [];
  // Each end of a log searches all arrived groups: settle them once instead.
  if (appends.filter(({ events }) => events.endsLog).length > 1) upkeep.settle();
  try {
    const refused = logs.appendAll(appends);
    return appends.map(({ id }, index) => toReply(id, refused[index]));
  } catch (error) {
    // A refused append must not take the others with it.
    if (appends.length > 1 && isRefusedBySqlite(error)) return appends.flatMap((append) => writeAppends([append]));
    return appends.map(({ id }) => toReply(id, error));
  }
}

function toReply(id: number, error: unknown): WorkerReply {
  return error === undefined ? { id, ok: true } : { id, ok: false, error: toPlainError(error) };
}

async function tryRequest(request: Exclude<WorkerRequest, AppendRequest>): Promise<WorkerReply> {
  const { id } = request;
  try {
    switch (request.kind) {
      case "close":
        upkeep.close();
        connection.close();
        return { id, ok: true };
      case "unlock":
        await locks.get(request.lock)?.();
        locks.delete(request.lock);
        return { id, ok: true };
      case "call":
        return { id, ok: true, value: await call(request) };
    }
  } catch (error) {
    return toReply(id, error);
  }
}

async function call({ id, owner, part, method, args }: CallRequest): Promise<unknown> {
  const view = views.get(owner) ?? createSqliteView(parts, owner);
  views.set(owner, view);
  if (method !== "lockConversation") {
    const actions: object = part === "store" ? view : view.waiting;
    return (actions as Record<typeof method, (...values: readonly unknown[]) => Promise<unknown>>)[method](...args);
  }
  const release = await view.lockConversation(args[0] as string);
  if (!release) return undefined;
  locks.set(id, release);
  return id;
}

function toPlainError(error: unknown): PlainError {
  const { code, message, source, details } = toSheafError(error);
  return { code, message, source, details };
}

/**
 * Settles arrived groups and checkpoints the WAL between two messages, in steps, so that appends wait as little as
 * possible. Never throws: everything is stored already, and the next append reports faults.
 */
function createUpkeep(file: string) {
  const wal = openSync(`${file}-wal`, "r+");
  let settlings = 0;
  let state: "waits" | "flushes" | "flushed" = "waits";
  let pausedUntil = 0;
  connection.run(() => connection.prepare(`PRAGMA wal_autocheckpoint = ${MAX_WAL_PAGES}`).get());

  const attempt = (step: () => void): void => {
    if (Date.now() < pausedUntil) return;
    try {
      step();
    } catch {
      pausedUntil = Date.now() + PAUSE_MS;
    }
  };

  /** Flushes the WAL before a checkpoint starts, because most of a checkpoint is waiting for the disk. */
  const flush = (): void => {
    state = "flushes";
    // A failure can be ignored: the checkpoint syncs again, and reports it.
    fdatasync(wal, () => (state = "flushed"));
  };

  const countSettling = (): void => {
    settlings += 1;
    if (settlings % SETTLINGS === 0 && state === "waits") flush();
  };

  return {
    /** Runs one step, if one is due. */
    run: () =>
      attempt(() => {
        if (state === "flushed") {
          state = "waits";
          connection.run(() => connection.prepare("PRAGMA wal_checkpoint(PASSIVE)").get());
        } else if (logs.isMuchArrived()) {
          logs.settle();
          countSettling();
        }
      }),
    /** Settles all arrived groups now. */
    settle: () => attempt(() => logs.settle()),
    close: () => closeSync(wal),
  };
}
