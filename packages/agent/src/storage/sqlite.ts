/** The embedded store: one SQLite file in WAL mode, written by any number of processes. */
import { chmodSync, closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { RunEvent } from "@sheaf/protocol";
import { SheafError } from "../errors.ts";
import { migrate } from "./migrations/migrate.ts";
import { toStorageError } from "./sqlite-errors.ts";
import type { ConversationRecord, Durability, ResponseRecord, Store } from "./store.ts";

/** How long a writer waits for another process before STORAGE_LOCKED. Milliseconds. */
const BUSY_TIMEOUT_MS = 10_000;

/**
 * Opens the store, makes it if it is missing: folder 0700, file 0600 (S-42).
 * @throws SheafError STORAGE_LOCKED, STORAGE_FULL, STORAGE_CORRUPT.
 */
export function createSqliteStore(file: string): Store {
  const database = guard(file, () => openDatabase(file));
  return new SqliteStore(file, database);
}

function openDatabase(file: string): DatabaseSync {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // SQLite would make the file with the process's mask; its companions take over the mode of the file.
  closeSync(openSync(file, "a", 0o600));
  chmodSync(file, 0o600);
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true });
  try {
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
    migrate(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function guard<Result>(file: string, action: () => Result): Result {
  try {
    return action();
  } catch (error) {
    throw toStorageError(error, file);
  }
}

const responseColumns = `r.key, r.id, c.id AS conversationId, r.position, r.created_at AS createdAt, r.ended,
  COALESCE((SELECT MAX(last_seq) FROM event_groups g WHERE g.response = r.key), 0) AS lastSeq`;

const conversationColumns = "id, workspace, title, created_at AS createdAt, updated_at AS updatedAt";

/** Where a response stands: its key, and the number of its last event. */
interface LogPosition {
  readonly key: number;
  lastSeq: number;
}

class SqliteStore implements Store {
  readonly #file: string;
  readonly #database: DatabaseSync;
  readonly #positions = new Map<string, LogPosition>();
  readonly #insertGroup: StatementSync;
  #durability: Durability = "grouped";
  #closed = false;

  constructor(file: string, database: DatabaseSync) {
    this.#file = file;
    this.#database = database;
    this.#insertGroup = database.prepare(
      "INSERT INTO event_groups (response, first_seq, last_seq, events) VALUES (?, ?, ?, ?)",
    );
  }

  async createResponse(response: Parameters<Store["createResponse"]>[0]): Promise<ResponseRecord> {
    return guard(this.#file, () => {
      const { id, conversationId, workspace, title, createdAt } = response;
      return this.#transact(() => {
        this.#database
          .prepare(
            `INSERT INTO conversations (id, workspace, title, created_at, updated_at) VALUES (?, ?, ?, ?, ?)
             ON CONFLICT (id) DO UPDATE SET updated_at = excluded.updated_at`,
          )
          .run(conversationId, workspace, title, createdAt, createdAt);
        const row = this.#database
          .prepare(
            `INSERT INTO responses (id, conversation, position, created_at)
             SELECT ?, c.key, 1 + (SELECT COUNT(*) FROM responses r WHERE r.conversation = c.key), ?
             FROM conversations c WHERE c.id = ? RETURNING key, position`,
          )
          .get(id, createdAt, conversationId) as { key: number; position: number };
        this.#positions.set(id, { key: row.key, lastSeq: 0 });
        return { id, conversationId, position: row.position, createdAt, lastSeq: 0, ended: false };
      });
    });
  }

  async appendEvents(responseId: string, events: readonly RunEvent[], durability: Durability): Promise<void> {
    const first = events[0];
    const last = events.at(-1);
    if (!first || !last) return;
    guard(this.#file, () => {
      const position = this.#position(responseId);
      if (first.seq !== position.lastSeq + 1 || last.seq !== position.lastSeq + events.length) {
        throw new SheafError(
          "INTERNAL",
          `events ${first.seq} to ${last.seq} of ${responseId} do not follow event ${position.lastSeq}`,
          { source: "storage" },
        );
      }
      this.#setDurability(durability);
      const text = JSON.stringify(events);
      if (last.type === "run_end") {
        this.#transact(() => {
          this.#insertGroup.run(position.key, first.seq, last.seq, text);
          this.#database.prepare("UPDATE responses SET ended = 1 WHERE key = ?").run(position.key);
        });
      } else {
        this.#insertGroup.run(position.key, first.seq, last.seq, text);
      }
      position.lastSeq = last.seq;
    });
  }

  async readEvents(responseId: string, after = 0): Promise<readonly RunEvent[]> {
    return guard(this.#file, () => {
      const rows = this.#database
        .prepare(
          `SELECT g.events FROM event_groups g JOIN responses r ON r.key = g.response
           WHERE r.id = ? AND g.last_seq > ? ORDER BY g.first_seq`,
        )
        .all(responseId, after) as { events: string }[];
      const events = rows.flatMap((row) => JSON.parse(row.events) as RunEvent[]);
      return events.filter((event) => event.seq > after);
    });
  }

  async getResponse(responseId: string): Promise<ResponseRecord | undefined> {
    return this.#selectResponses("r.id = ?", responseId)[0];
  }

  async listResponses(conversationId: string): Promise<readonly ResponseRecord[]> {
    return this.#selectResponses("c.id = ?", conversationId);
  }

  async getConversation(conversationId: string): Promise<ConversationRecord | undefined> {
    return guard(this.#file, () => {
      const select = `SELECT ${conversationColumns} FROM conversations WHERE id = ?`;
      const row = this.#database.prepare(select).get(conversationId);
      return row as ConversationRecord | undefined;
    });
  }

  async listConversations(options: Parameters<Store["listConversations"]>[0]): Promise<readonly ConversationRecord[]> {
    return guard(this.#file, () => {
      const select = `SELECT ${conversationColumns} FROM conversations
        WHERE ?1 IS NULL OR workspace = ?1 ORDER BY updated_at DESC, key DESC LIMIT ?2`;
      const rows = this.#database.prepare(select).all(options.workspace ?? null, options.limit);
      return rows as unknown as ConversationRecord[];
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    guard(this.#file, () => this.#database.close());
  }

  #selectResponses(where: string, value: string): ResponseRecord[] {
    return guard(this.#file, () => {
      const rows = this.#database
        .prepare(
          `SELECT ${responseColumns} FROM responses r JOIN conversations c ON c.key = r.conversation
           WHERE ${where} ORDER BY r.position`,
        )
        .all(value) as unknown as (Omit<ResponseRecord, "ended"> & { ended: number })[];
      return rows.map(({ id, conversationId, position, createdAt, lastSeq, ended }) => ({
        id,
        conversationId,
        position,
        createdAt,
        lastSeq,
        ended: ended === 1,
      }));
    });
  }

  #position(responseId: string): LogPosition {
    const known = this.#positions.get(responseId);
    if (known) return known;
    const row = this.#database
      .prepare(
        `SELECT ${responseColumns} FROM responses r JOIN conversations c ON c.key = r.conversation WHERE r.id = ?`,
      )
      .get(responseId) as { key: number; lastSeq: number } | undefined;
    if (!row) throw new SheafError("INTERNAL", `response ${responseId} is not stored`, { source: "storage" });
    const position = { key: row.key, lastSeq: row.lastSeq };
    this.#positions.set(responseId, position);
    return position;
  }

  /** WAL with NORMAL survives the process; only FULL waits for the disk. The switch costs no I/O. */
  #setDurability(durability: Durability): void {
    if (durability === this.#durability) return;
    this.#database.exec(`PRAGMA synchronous = ${durability === "synced" ? "FULL" : "NORMAL"}`);
    this.#durability = durability;
  }

  #transact<Result>(action: () => Result): Result {
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      const result = action();
      this.#database.exec("COMMIT");
      return result;
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      throw error;
    }
  }
}
