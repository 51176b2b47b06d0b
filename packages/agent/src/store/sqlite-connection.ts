/** One connection to the SQLite file: statements, transactions, durability. */
import { chmodSync, closeSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { makeFolder } from "../base/make-folder.ts";
import { completeCutFile } from "./complete-cut-file.ts";
import { migrate } from "./migrations/migrate.ts";
import { toStorageError } from "./sqlite-errors.ts";
import { memoryFile, type Durability } from "./store.ts";

/** How long a writer waits for another process before STORAGE_LOCKED. Milliseconds. */
const BUSY_TIMEOUT_MS = 10_000;

/** Failures of everything here are SheafErrors with a STORAGE_ code. */
export interface SqliteConnection {
  /** Runs something that only reads, or that is one statement. */
  run<Result>(action: () => Result): Result;
  /** Runs something that happens whole or not at all. */
  transact<Result>(durability: Durability, action: () => Result): Result;
  /** How durable the next statement outside of a transaction is. */
  setDurability(durability: Durability): void;
  /** A statement, compiled once. */
  prepare(sql: string): StatementSync;
  close(): void;
}

/**
 * Opens the store, makes it if it is missing: folder 0700, file 0600 (S-42).
 * @throws SheafError STORAGE_LOCKED, STORAGE_FULL, STORAGE_CORRUPT.
 */
export function openSqliteConnection(file: string): SqliteConnection {
  const run = <Result>(action: () => Result): Result => {
    try {
      return action();
    } catch (error) {
      throw toStorageError(error, file);
    }
  };
  const database = run(() => openDatabase(file));
  const statements = new Map<string, StatementSync>();
  let durability: Durability = "grouped";
  let isClosed = false;

  /** WAL with NORMAL survives the process; only FULL waits for the disk. The switch costs no I/O. */
  const setDurability = (wanted: Durability): void => {
    if (wanted === durability) return;
    database.exec(`PRAGMA synchronous = ${wanted === "synced" ? "FULL" : "NORMAL"}`);
    durability = wanted;
  };

  return {
    run,
    setDurability,
    transact: (wanted, action) =>
      run(() => {
        setDurability(wanted);
        database.exec("BEGIN IMMEDIATE");
        try {
          const result = action();
          database.exec("COMMIT");
          return result;
        } catch (error) {
          if (database.isTransaction) database.exec("ROLLBACK");
          throw error;
        }
      }),
    prepare(sql) {
      const known = statements.get(sql);
      if (known) return known;
      const statement = database.prepare(sql);
      statements.set(sql, statement);
      return statement;
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      run(() => database.close());
    },
  };
}

function openDatabase(file: string): DatabaseSync {
  if (file === memoryFile) return openFile(file);
  makeFolder(dirname(file));
  // SQLite would make the file with the process's mask; its companions take over the mode of the file.
  closeSync(openSync(file, "a", 0o600));
  chmodSync(file, 0o600);
  try {
    return openFile(file);
  } catch (error) {
    if (toStorageError(error, file).code !== "STORAGE_CORRUPT" || !completeCutFile(file)) throw error;
    return openFile(file);
  }
}

/** LIKE of SQLite knows the two cases of ASCII only, and reads no further than the first NUL. `words` in lower case. */
function isHolding(text: unknown, words: unknown): number {
  return typeof text === "string" && text.toLowerCase().includes(String(words)) ? 1 : 0;
}

function openFile(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true });
  database.function("holds", { deterministic: true }, isHolding);
  try {
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
    migrate(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
