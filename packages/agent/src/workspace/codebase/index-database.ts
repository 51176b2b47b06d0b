/** The index of one workspace in SQLite: which files it knows in which state, and the words of their pieces. */
import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { makeDatabaseFile } from "@sheaf/base/make-database-file";
import { type CodePiece, toIndexedText } from "./index-text.ts";

/** Raised when older indexes can no longer be read: they are then rebuilt. */
const VERSION = 2;

/** Number of indexes kept, of all workspaces. */
const MAX_INDEXES = 30;

const SQLITE_BUSY = 5;

/** How long a writer waits for another process. Milliseconds. */
const BUSY_TIMEOUT_MS = 2000;

/** The state of a file in the index. */
export interface IndexedFile {
  readonly path: string;
  readonly size: number;
  /** Milliseconds since 1970, with fractions. */
  readonly changedAt: number;
}

export interface FoundPiece extends Omit<CodePiece, "text"> {
  /** Relative to the folder that is searched, with `/`. */
  readonly path: string;
}

/** Opens the index; creates it if it is missing or of another version: folder 0700, file 0600. Undefined: in memory. */
export function openIndexDatabase(file: string | undefined): IndexDatabase {
  if (file === undefined) return new IndexDatabase(new DatabaseSync(":memory:"));
  const isNew = !existsSync(file);
  makeDatabaseFile(file);
  if (isNew) removeOldIndexes(dirname(file));
  return new IndexDatabase(new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS }));
}

export function removeIndex(file: string): void {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(file + suffix, { force: true });
}

/** Removes the indexes that were changed longest ago. */
function removeOldIndexes(folder: string): void {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith(".db"))
    .map((name) => ({ file: join(folder, name), changedAt: statSync(join(folder, name)).mtimeMs }))
    .toSorted((one, other) => other.changedAt - one.changedAt);
  for (const { file } of files.slice(MAX_INDEXES - 1)) removeIndex(file);
}

/** SQLITE_CORRUPT and SQLITE_NOTADB. */
export function isDamaged(error: unknown): boolean {
  return [11, 26].includes(toErrorCode(error));
}

function toErrorCode(error: unknown): number {
  return error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : 0;
}

export class IndexDatabase {
  readonly #database: DatabaseSync;
  /** By their text: most run once for each piece. */
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
    const version = database.prepare("PRAGMA user_version").get() as { user_version: number };
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY;");
    if (version.user_version !== VERSION) this.#create();
  }

  #create(): void {
    this.#database.exec(`BEGIN IMMEDIATE;
      DROP TABLE IF EXISTS files; DROP TABLE IF EXISTS pieces; DROP TABLE IF EXISTS words;
      CREATE TABLE files (key INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL,
        changed_at REAL NOT NULL) STRICT;
      CREATE TABLE pieces (key INTEGER PRIMARY KEY, file INTEGER NOT NULL, start_line INTEGER NOT NULL,
        end_line INTEGER NOT NULL) STRICT;
      CREATE INDEX pieces_by_file ON pieces (file);
      CREATE VIRTUAL TABLE words USING fts5(path, body, content='', contentless_delete=1,
        tokenize="porter unicode61 remove_diacritics 2");
      PRAGMA user_version = ${VERSION}; COMMIT;`);
  }

  close(): void {
    this.#database.close();
  }

  listFiles(): Map<string, IndexedFile> {
    const select = this.#database.prepare("SELECT path, size, changed_at AS changedAt FROM files");
    return new Map((select.all() as unknown as IndexedFile[]).map((file) => [file.path, file]));
  }

  /** Runs `work` in one transaction. False: another process is writing, and nothing was done. */
  transact(work: () => void): boolean {
    try {
      this.#database.exec("BEGIN IMMEDIATE");
    } catch (error) {
      if (toErrorCode(error) === SQLITE_BUSY) return false;
      throw error;
    }
    try {
      work();
      this.#database.exec("COMMIT");
      return true;
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  removeFile(path: string): void {
    const row = this.#prepare("SELECT key FROM files WHERE path = ?").get(path) as { key: number } | undefined;
    if (!row) return;
    this.#prepare("DELETE FROM words WHERE rowid IN (SELECT key FROM pieces WHERE file = ?)").run(row.key);
    this.#prepare("DELETE FROM pieces WHERE file = ?").run(row.key);
    this.#prepare("DELETE FROM files WHERE key = ?").run(row.key);
  }

  /** Adds a file, replacing its old entry. A file without pieces is known not to be text. */
  addFile({ path, size, changedAt }: IndexedFile, pieces: readonly CodePiece[]): void {
    this.removeFile(path);
    const file = this.#prepare("INSERT INTO files (path, size, changed_at) VALUES (?, ?, ?) RETURNING key");
    const { key } = file.get(path, size, changedAt) as { key: number };
    const names = toIndexedText(path);
    for (const piece of pieces) {
      const place = this.#prepare("INSERT INTO pieces (file, start_line, end_line) VALUES (?, ?, ?) RETURNING key");
      const row = place.get(key, piece.startLine, piece.endLine) as { key: number };
      this.#prepare("INSERT INTO words (rowid, path, body) VALUES (?, ?, ?)").run(
        row.key,
        names,
        toIndexedText(piece.text),
      );
    }
  }

  /** The pieces that contain any of the words, the best first: rare words count more, and words of the path most. */
  findPieces(words: readonly string[], limit: number): FoundPiece[] {
    const query = words.map((word) => `"${word.replaceAll('"', "")}"`).join(" OR ");
    const select = this.#prepare(
      `SELECT f.path, p.start_line AS startLine, p.end_line AS endLine
       FROM words w JOIN pieces p ON p.key = w.rowid JOIN files f ON f.key = p.file
       WHERE words MATCH ? ORDER BY bm25(words, 4.0, 1.0), p.key LIMIT ?`,
    );
    return select.all(query, limit) as unknown as FoundPiece[];
  }

  #prepare(text: string): StatementSync {
    let statement = this.#statements.get(text);
    if (!statement) {
      statement = this.#database.prepare(text);
      this.#statements.set(text, statement);
    }
    return statement;
  }
}
