/**
 * What the thread that writes does between two messages, so that no append waits for more of it than it must: it takes
 * groups to their places, and brings the WAL into the file, in steps.
 */
import { closeSync, fdatasync, openSync } from "node:fs";
import type { SqliteConnection } from "./sqlite-connection.ts";
import type { SqliteLogs } from "./sqlite-log.ts";

/** Settlings before the WAL is brought into the file. */
const SETTLINGS = 2;

/** Pages of the WAL that are brought into the file whatever happens, within an append. */
const MAX_WAL_PAGES = 4000;

/** How long to wait after a failure. Milliseconds. */
const PAUSE_MS = 1000;

export interface Upkeep {
  /** One step, if there is one to do. It never throws: all is stored as it is, and the next append tells what is wrong. */
  run(): void;
  /** Takes all groups to their places now. It never throws. */
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

  /** Most of a checkpoint is waiting for the disk: what is in the WAL is on the disk before it begins. */
  const flush = (): void => {
    state = "flushes";
    // A checkpoint syncs by itself, and tells of failures.
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
