/**
 * What the writing thread does between two messages, in steps, so that appends wait as little as possible: it settles
 * arrived groups and checkpoints the WAL.
 */
import { closeSync, fdatasync, openSync } from "node:fs";
import type { SqliteConnection } from "./sqlite-connection.ts";
import type { SqliteLogs } from "./sqlite-log.ts";

/** Number of settlings before a checkpoint of the WAL. */
const SETTLINGS = 2;

/** Pages of the WAL after which an append itself runs a checkpoint. */
const MAX_WAL_PAGES = 4000;

/** How long to wait after a failure. Milliseconds. */
const PAUSE_MS = 1000;

export interface Upkeep {
  /** Runs one step, if one is due. Never throws: everything is stored already, and the next append reports faults. */
  run(): void;
  /** Settles all arrived groups now. Never throws. */
  settle(): void;
  close(): void;
}

/** `now`: milliseconds since 1970. */
export function createUpkeep(file: string, connection: SqliteConnection, logs: SqliteLogs, now: () => number): Upkeep {
  const wal = openSync(`${file}-wal`, "r+");
  let settlings = 0;
  let state: "waits" | "flushes" | "flushed" = "waits";
  let pausedUntil = 0;
  connection.run(() => connection.prepare(`PRAGMA wal_autocheckpoint = ${MAX_WAL_PAGES}`).get());

  const attempt = (step: () => void): void => {
    if (now() < pausedUntil) return;
    try {
      step();
    } catch {
      pausedUntil = now() + PAUSE_MS;
    }
  };

  /** Most of a checkpoint is waiting for the disk, so the WAL is flushed before it begins. */
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
    settle: () => attempt(() => logs.settle()),
    close: () => closeSync(wal),
  };
}
