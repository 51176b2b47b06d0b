/** Locks a file for one process of Sheaf. It is SQLite's lock, so the system frees it if a process dies. */
import { lstatSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { SheafError } from "./errors.ts";
import { makeFolder } from "./make-folder.ts";
import { writeNewFile } from "./replace-file.ts";
import { toWriteError } from "./write-error.ts";

/** Milliseconds to wait for another process, which needs only a few to change a file. */
const PATIENCE_MS = 10_000;

/** Milliseconds between two looks of an asynchronous wait. */
const LOOK_MS = 50;

/** A text before and after a change; undefined for a missing file. */
export interface TextChange {
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/**
 * Reads a file and writes the new text under the lock. `plan` reads the text and returns the change. If the text stays
 * the same, the lock isn't taken, so this also works in a read-only folder.
 * @throws SheafError STORAGE_LOCKED, CONFIG_INVALID, STORAGE_FULL, and the errors of `plan` and `write`.
 */
export function changeFile<Change extends TextChange>(
  file: string,
  plan: () => Change,
  write: (text: string | undefined) => void,
): Change {
  const first = plan();
  if (first.after === first.before) return first;
  return withFileLock(file, () => {
    const change = plan();
    if (change.after !== change.before) write(change.after);
    return change;
  });
}

/** Blocks until no other process has the file's lock, then runs. @throws as `changeFile`. */
export function withFileLock<Result>(file: string, run: () => Result, patienceMs = PATIENCE_MS): Result {
  const lock = openLock(file, patienceMs);
  try {
    if (!tryLock(lock)) throw createBusyError(lock, patienceMs);
    return run();
  } finally {
    lock.database.close();
  }
}

/** Waits for the lock, even if this process has it, then runs. @throws as `changeFile`, or the signal's reason. */
export async function holdFileLock<Result>(
  file: string,
  run: () => Promise<Result>,
  { signal, patienceMs }: { readonly signal?: AbortSignal | undefined; readonly patienceMs: number },
): Promise<Result> {
  const lock = openLock(file, 0);
  const late = AbortSignal.timeout(patienceMs);
  const either = signal ? AbortSignal.any([signal, late]) : late;
  try {
    while (!tryLock(lock)) {
      await sleep(LOOK_MS, undefined, { signal: either }).catch(() => undefined);
      signal?.throwIfAborted();
      if (late.aborted) throw createBusyError(lock, patienceMs);
    }
    return await run();
  } finally {
    lock.database.close();
  }
}

/**
 * Takes the file's lock for any time. Returns the function that releases it; undefined if another process, or this one,
 * has it. @throws SheafError CONFIG_INVALID, STORAGE_FULL.
 */
export function takeFileLock(file: string): (() => void) | undefined {
  const lock = openLock(file, 0);
  const release = (): void => lock.database.close();
  if (tryLock(lock)) return release;
  release();
  return undefined;
}

interface Lock {
  readonly path: string;
  readonly database: DatabaseSync;
}

function openLock(file: string, timeout: number): Lock {
  const path = `${file}.lock`;
  try {
    makeFolder(dirname(path));
    // Other users cannot open the new file, so they cannot lock it: SQLite would let them read it.
    if (!findStats(path)) writeNewFile(path, "");
  } catch (error) {
    // Another process may have been faster.
    if (!findStats(path)) throw toWriteError(`the lock ${path}`, error);
  }
  try {
    // The file is not opened: closing it here would release a lock that this process has.
    if (!findStats(path)?.isFile()) throw new Error("it is not a file");
    // `import` would cost time at each start, and few starts change a file.
    const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
    return { path, database: new DatabaseSync(path, { timeout }) };
  } catch (error) {
    throw createFault(path, error);
  }
}

function findStats(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}

const SQLITE_BUSY = 5;

/** Returns false if another process has the lock. */
function tryLock({ path, database }: Lock): boolean {
  try {
    database.exec("BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    if ((error as { readonly errcode?: number }).errcode === SQLITE_BUSY) return false;
    throw createFault(path, error);
  }
}

function createFault(path: string, cause: unknown): SheafError {
  const { message } = cause as Error;
  return new SheafError("CONFIG_INVALID", `the lock ${path} cannot be used (${message}): remove it, and try again`, {
    cause,
  });
}

function createBusyError({ path }: Lock, patienceMs: number): SheafError {
  const message = `another process has held the lock ${path} for ${patienceMs / 1000} s: find it with fuser "${path}", end it, and try again`;
  return new SheafError("STORAGE_LOCKED", message, { source: "storage" });
}
