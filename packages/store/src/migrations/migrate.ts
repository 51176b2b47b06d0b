/** Migrates a database to the newest schema. `user_version` counts the steps taken. */
import type { DatabaseSync } from "node:sqlite";
import { SheafError } from "@sheaf/base/errors";
import { sheafVersion } from "@sheaf/base/version";
import { storeAllDigests } from "../sqlite-digests.ts";

/**
 * Steps, each of which runs once, in order; a released step never changes. Programs that know fewer steps continue to
 * use the store, so a step with which they can't work sets `readable_from` to its own number.
 */
const steps: readonly (string | ((database: DatabaseSync) => void))[] = [
  `CREATE TABLE conversations (
     key INTEGER PRIMARY KEY,
     id TEXT NOT NULL UNIQUE,
     workspace TEXT NOT NULL,
     title TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     updated_at INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX conversations_by_update ON conversations (updated_at);
   CREATE TABLE responses (
     key INTEGER PRIMARY KEY,
     id TEXT NOT NULL UNIQUE,
     conversation INTEGER NOT NULL REFERENCES conversations (key) ON DELETE CASCADE,
     position INTEGER NOT NULL,
     created_at INTEGER NOT NULL,
     ended INTEGER NOT NULL DEFAULT 0,
     UNIQUE (conversation, position)
   ) STRICT;
   CREATE TABLE event_groups (
     response INTEGER NOT NULL REFERENCES responses (key) ON DELETE CASCADE,
     first_seq INTEGER NOT NULL,
     last_seq INTEGER NOT NULL,
     events TEXT NOT NULL,
     PRIMARY KEY (response, first_seq)
   ) STRICT, WITHOUT ROWID;`,
  "ALTER TABLE responses ADD COLUMN reverted INTEGER NOT NULL DEFAULT 0",
  `ALTER TABLE conversations ADD COLUMN owner TEXT NOT NULL DEFAULT 'local';
   ALTER TABLE conversations ADD COLUMN fence INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE conversations ADD COLUMN lease_holder TEXT;
   ALTER TABLE conversations ADD COLUMN lease_until INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE conversations ADD COLUMN cancel INTEGER NOT NULL DEFAULT 0;
   DROP INDEX conversations_by_update;
   CREATE INDEX conversations_by_update ON conversations (owner, updated_at);
   CREATE INDEX open_responses ON responses (key) WHERE ended = 0;
   CREATE TABLE requests (
     owner TEXT NOT NULL,
     key TEXT NOT NULL,
     digest TEXT NOT NULL,
     response INTEGER NOT NULL REFERENCES responses (key) ON DELETE CASCADE,
     created_at INTEGER NOT NULL,
     PRIMARY KEY (owner, key)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX requests_by_response ON requests (response);`,
  `CREATE TABLE owner_usage (
     owner TEXT NOT NULL,
     day TEXT NOT NULL,
     turns INTEGER NOT NULL,
     cost_usd REAL NOT NULL,
     PRIMARY KEY (owner, day)
   ) STRICT, WITHOUT ROWID;`,
  `CREATE TABLE arrived_groups (
     key INTEGER PRIMARY KEY,
     response INTEGER NOT NULL REFERENCES responses (key) ON DELETE CASCADE,
     first_seq INTEGER NOT NULL,
     last_seq INTEGER NOT NULL,
     events TEXT NOT NULL
   ) STRICT;`,
  "ALTER TABLE conversations ADD COLUMN settings TEXT NOT NULL DEFAULT '{}'",
  `ALTER TABLE conversations ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
   CREATE INDEX conversations_by_pin ON conversations (owner, pinned, updated_at);
   ALTER TABLE responses ADD COLUMN prompt_tokens INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE responses ADD COLUMN completion_tokens INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE responses ADD COLUMN cost_usd REAL;
   ALTER TABLE responses ADD COLUMN answer TEXT NOT NULL DEFAULT '';`,
  storeAllDigests,
  `CREATE TABLE attachments (
     id TEXT PRIMARY KEY,
     owner TEXT NOT NULL,
     name TEXT NOT NULL,
     media_type TEXT NOT NULL,
     size INTEGER NOT NULL,
     created_at INTEGER NOT NULL,
     bytes BLOB NOT NULL
   ) STRICT;
   CREATE INDEX attachments_by_owner ON attachments (owner, size);
   CREATE INDEX attachments_by_time ON attachments (created_at);`,
  `CREATE TABLE schema_use (readable_from INTEGER NOT NULL, written_by TEXT NOT NULL) STRICT;
   INSERT INTO schema_use VALUES (0, '')`,
  `CREATE TABLE orders (
     key INTEGER PRIMARY KEY,
     id TEXT NOT NULL UNIQUE,
     owner TEXT NOT NULL,
     conversation TEXT NOT NULL,
     body TEXT NOT NULL,
     request_key TEXT,
     request_digest TEXT,
     response INTEGER UNIQUE REFERENCES responses (key) ON DELETE CASCADE,
     resumes INTEGER NOT NULL DEFAULT 0,
     holder INTEGER,
     not_before INTEGER NOT NULL DEFAULT 0,
     failure TEXT,
     failed_at INTEGER
   ) STRICT;
   CREATE INDEX orders_by_conversation ON orders (conversation, key);
   CREATE INDEX orders_by_request ON orders (owner, request_key) WHERE request_key IS NOT NULL;`,
  `ALTER TABLE orders ADD COLUMN place INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE orders ADD COLUMN steers INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE orders ADD COLUMN told INTEGER REFERENCES responses (key) ON DELETE CASCADE;
   CREATE INDEX orders_by_told ON orders (told) WHERE told IS NOT NULL;`,
  "ALTER TABLE responses ADD COLUMN parent INTEGER",
];

/** Version of the schema that `migrate` makes. */
export const newestSchema = steps.length;

/** The schema of a store, as an older program sees it. */
export interface StoredSchema {
  /** Number of steps taken. */
  readonly version: number;
  /** The oldest schema whose programs can use the store. Default: its own. */
  readonly readable_from?: number;
  /** The version of Sheaf that migrated it last. */
  readonly written_by?: string;
}

/** Returns the schema that it found. @throws SheafError CONFIG_INVALID if only a newer Sheaf can use the file. */
export function migrate(database: DatabaseSync): number {
  const found = readSchema(database).version;
  if (found === steps.length) return found;
  // Lock first: two processes that start at once must not both migrate.
  database.exec("BEGIN IMMEDIATE");
  try {
    const schema = readSchema(database);
    checkReadable(schema, steps.length, "set SHEAF_HOME to another folder");
    for (const step of steps.slice(schema.version)) {
      if (typeof step === "string") database.exec(step);
      else step(database);
    }
    if (schema.version < steps.length) {
      database.prepare("UPDATE schema_use SET written_by = ?").run(sheafVersion);
      database.exec(`PRAGMA user_version = ${steps.length}`);
    }
    database.exec("COMMIT");
    return schema.version;
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/**
 * Passes a store that a program with `newest` steps can use. `otherwise`: the way out for users who can't update.
 * @throws SheafError CONFIG_INVALID.
 */
export function checkReadable(schema: StoredSchema, newest: number, otherwise: string): void {
  const { version, readable_from: first = version, written_by: writer = "" } = schema;
  if (version <= newest || first <= newest) return;
  throw new SheafError(
    "CONFIG_INVALID",
    `a newer Sheaf wrote the store: it has schema ${version}, and Sheaf ${sheafVersion} knows schemas up to ${newest}. Update Sheaf (npm install -g sheaf@${writer || "latest"}), or ${otherwise}`,
    { source: "storage" },
  );
}

/** Reads the schema of a store that is only looked at. @throws SheafError CONFIG_INVALID for older and newer ones. */
export function readOwnSchema(database: DatabaseSync): number {
  const schema = readSchema(database);
  checkReadable(schema, steps.length, "set SHEAF_HOME to another folder");
  if (schema.version < steps.length) throw createOldStoreError("the store", schema.version, steps.length);
  return schema.version;
}

/** The failure for a store that must be migrated before it can be read. */
export function createOldStoreError(place: string, version: number, newest: number): SheafError {
  const found = version === 0 ? "is no store yet" : `has schema ${version}, this Sheaf needs ${newest}`;
  return new SheafError("CONFIG_INVALID", `${place} ${found}: run sheaf store migrate`, { source: "storage" });
}

function readSchema(database: DatabaseSync): StoredSchema {
  const { user_version: version } = database.prepare("PRAGMA user_version").get() as { user_version: number };
  if (version <= steps.length) return { version };
  const isMarked = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'schema_use'").get();
  return { ...(isMarked && database.prepare("SELECT readable_from, written_by FROM schema_use").get()), version };
}
