/** One connection to the SQLite file: statements, transactions, durability. */
import { closeSync, existsSync, fstatSync, ftruncateSync, openSync, readSync, statSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { SheafError, type ErrorCode } from "@sheaf/base/errors";
import { checkDatabaseFiles, makeDatabaseFile } from "@sheaf/base/make-database-file";
import { migrate, readOwnSchema } from "./migrations/migrate.ts";
import { memoryFile, type Durability } from "./store.ts";

/** Time that a writer waits for another process before STORAGE_LOCKED. Milliseconds. */
const BUSY_TIMEOUT_MS = 10_000;

/** A connection whose failures are all SheafErrors with a STORAGE_ code. */
export interface SqliteConnection {
  /** The schema of the file before it was opened; 0: it was empty. */
  readonly foundSchema: number;
  /** Runs an action that only reads, or that is one statement. */
  run<Result>(action: () => Result): Result;
  /** Runs an action as a whole or not at all. */
  transact<Result>(durability: Durability, action: () => Result): Result;
  /** Sets the durability of statements outside of a transaction. */
  setDurability(durability: Durability): void;
  /** Compiles a statement once. */
  prepare(sql: string): StatementSync;
  close(): void;
}

/** Access to the file. `look` never changes it; `any` may write, unless the file is read-only. */
export type SqliteAccess = "write" | "any" | "look";

/**
 * Opens the store, and creates it if it is missing: folder 0700, file 0600 (S-42). Later errors call it `name`, which
 * is the path of the file by default.
 * @throws SheafError STORAGE_LOCKED, STORAGE_FULL, STORAGE_CORRUPT; CONFIG_INVALID for a file of a newer Sheaf.
 */
export function openSqliteConnection(file: string, name = file, access: SqliteAccess = "write"): SqliteConnection {
  let opened: OpenedFile;
  try {
    opened = openDatabase(file, access);
  } catch (error) {
    throw toStorageError(error, file, access);
  }
  const { database, foundSchema } = opened;
  const run = <Result>(action: () => Result): Result => {
    try {
      return action();
    } catch (error) {
      throw toStorageError(error, name, access);
    }
  };
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
    foundSchema,
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

interface OpenedFile extends Pick<SqliteConnection, "foundSchema"> {
  readonly database: DatabaseSync;
}

function openDatabase(file: string, access: SqliteAccess): OpenedFile {
  if (file === memoryFile) return openFile(file);
  checkDatabaseFiles(file);
  if (access === "look") return openToLook(file);
  try {
    makeDatabaseFile(file);
    return openFile(file);
  } catch (error) {
    const { code } = toStorageError(error, file, access);
    if (code === "STORAGE_CORRUPT" && completeCutFile(file)) return openFile(file);
    if (access === "write" || code !== "STORAGE_LOCKED" || !existsSync(file)) throw error;
    return openToLook(file);
  }
}

/** Opens a file to look at it. SQLite can't make files beside a WAL on a read-only disk, but needs none without it. */
function openToLook(file: string): OpenedFile {
  try {
    return openFile(file, { readOnly: true });
  } catch (error) {
    const hasLog = (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
    if (toResultCode(error) !== SQLITE_CANTOPEN || hasLog) throw error;
    return openFile(new URL(`${pathToFileURL(file).href}?immutable=1`), { readOnly: true });
  }
}

/** Replaces LIKE, which ignores case in ASCII only, and stops at the first NUL. `words` in lower case. */
function contains(text: unknown, words: unknown): number {
  return typeof text === "string" && text.toLowerCase().includes(String(words)) ? 1 : 0;
}

function openFile(file: string | URL, { readOnly = false } = {}): OpenedFile {
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true, readOnly });
  database.function("holds", { deterministic: true }, contains);
  try {
    if (readOnly) return { database, foundSchema: readOwnSchema(database) };
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
    return { database, foundSchema: migrate(database) };
  } catch (error) {
    database.close();
    throw error;
  }
}

const SQLITE_CORRUPT = 11;
const SQLITE_CANTOPEN = 14;
const SQLITE_CONSTRAINT = 19;
const SQLITE_CONSTRAINT_TRIGGER = 1811;

type Known = readonly [code: ErrorCode, advice: string];

/** The end of advice for callers that may have the flag: a server and `sheaf store` have no such flag. */
const orUnsaved = ", or add --no-save";
const elsewhere = `set SHEAF_HOME to a folder that you can write${orUnsaved}`;
const locked: Known = ["STORAGE_LOCKED", "another process holds it: try again"];
const full: Known = ["STORAGE_FULL", `the disk is full: free some space${orUnsaved}`];
const unopened: Known = ["STORAGE_LOCKED", `it cannot be opened: ${elsewhere}`];
const foreign: Known = [
  "STORAGE_CORRUPT",
  "it is not a SQLite file: move it away, or set SHEAF_HOME to another folder",
];

/** Result codes of SQLite (https://sqlite.org/rescode.html), and codes of the system. */
const codes: ReadonlyMap<number | string, Known> = new Map<number | string, Known>([
  [5, locked],
  [6, locked],
  [8, ["STORAGE_LOCKED", `it cannot be written: ${elsewhere}`]],
  [10, ["STORAGE_FULL", `the disk refused to write: free some space${orUnsaved}`]],
  [
    SQLITE_CORRUPT,
    [
      "STORAGE_CORRUPT",
      "a part of it is damaged, but all else works: run sheaf store check to see the part, or move the file away to start again",
    ],
  ],
  [13, full],
  [SQLITE_CANTOPEN, unopened],
  [SQLITE_CONSTRAINT_TRIGGER, ["STORAGE_LOCKED", `a trigger in it refuses to write: remove it, or ${elsewhere}`]],
  [26, foreign],
  ["NOT_A_FILE", foreign],
  ["ENOSPC", full],
  ["EDQUOT", full],
]);

/** Returns the primary result code, the low byte of an extended one. The code of a trigger stays whole. */
function toResultCode(error: unknown): number | undefined {
  // Sheaf writes JSON and numbers within bounds only, so the file is damaged.
  if (error instanceof SyntaxError || error instanceof RangeError) return SQLITE_CORRUPT;
  const { errcode } = error as { errcode?: number };
  return errcode === undefined || errcode === SQLITE_CONSTRAINT_TRIGGER ? errcode : errcode & 0xff;
}

/** True if a failure is about the written row, and not about the file: another row may work. */
export function isRefusedBySqlite(error: unknown): boolean {
  return error instanceof SheafError && ((toResultCode(error.cause ?? {}) ?? 0) & 0xff) === SQLITE_CONSTRAINT;
}

/** Turns a failure into STORAGE_LOCKED, STORAGE_FULL, STORAGE_CORRUPT or INTERNAL. */
function toStorageError(error: unknown, name: string, access: SqliteAccess): SheafError {
  if (error instanceof SheafError) return error;
  const { code, message } = error as { code?: string; message?: string };
  const resultCode = toResultCode(error);
  const known = resultCode === undefined ? (codes.get(code ?? "") ?? unopened) : codes.get(resultCode);
  const [kind, advice] = known ?? (["INTERNAL", "unexpected"] as const);
  const fitting = access === "any" ? advice : advice.replace(orUnsaved, "");
  return new SheafError(kind, `the store ${name} failed (${message ?? String(error)}): ${fitting}`, {
    cause: error,
    source: "storage",
  });
}

/** Length of a database file's header, by https://sqlite.org/fileformat.html. */
const headerBytes = 100;

/**
 * Extends a truncated file with zeros to the size in its header; returns true if it was truncated.
 * The lost pages stay damaged, but the rest can be read, and no byte is overwritten. Use it only if SQLite calls the
 * file damaged, because a file may look truncated while another process writes it.
 */
function completeCutFile(file: string): boolean {
  const descriptor = openSync(file, "r+");
  try {
    const header = Buffer.alloc(headerBytes);
    const { size } = fstatSync(descriptor);
    if (readSync(descriptor, header, 0, headerBytes, 0) < headerBytes) return false;
    if (!header.toString("latin1").startsWith("SQLite format 3\0")) return false;
    const storedSize = header.readUInt16BE(16);
    const pageSize = storedSize === 1 ? 65_536 : storedSize;
    const whole = header.readUInt32BE(28) * pageSize;
    if (whole <= size || whole > size + maximalGap) return false;
    ftruncateSync(descriptor, whole);
    return true;
  } finally {
    closeSync(descriptor);
  }
}

/** Longest gap to fill. Zeros take no space on the disk, but a header that asks for more isn't credible. Bytes. */
const maximalGap = 2 ** 36;
