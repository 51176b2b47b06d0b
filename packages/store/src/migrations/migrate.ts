/** Migrates a database to the newest schema. `user_version` counts the steps taken. */
import type { DatabaseSync } from "node:sqlite";
import { SheafError } from "@sheaf/base/errors";
import { sheafVersion } from "@sheaf/base/version";
import { storeAllDigests } from "../sqlite-digests.ts";

/** Each step runs once, in order; a released step never changes. */
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
];

/** Version of the schema that `migrate` makes. */
export const newestSchema = steps.length;

/** Returns the schema that it found. @throws SheafError CONFIG_INVALID when a newer Sheaf wrote the file. */
export function migrate(database: DatabaseSync): number {
  const found = readVersion(database);
  if (found === steps.length) return found;
  // Lock first: two processes that start at once must not both migrate.
  database.exec("BEGIN IMMEDIATE");
  try {
    const version = readVersion(database);
    if (version > steps.length) throw createNewerStoreError(version, steps.length, "set SHEAF_HOME to another folder");
    for (const step of steps.slice(version)) {
      if (typeof step === "string") database.exec(step);
      else step(database);
    }
    database.exec(`PRAGMA user_version = ${steps.length}; COMMIT`);
    return version;
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/** The failure for a whole store of a newer Sheaf. `otherwise`: the way out of who cannot update. */
export function createNewerStoreError(version: number, newest: number, otherwise: string): SheafError {
  return new SheafError(
    "CONFIG_INVALID",
    `a newer Sheaf wrote the store: it has schema ${version}, and Sheaf ${sheafVersion} knows schemas up to ${newest}. Update Sheaf (npm install -g sheaf@latest), or ${otherwise}`,
    { source: "storage" },
  );
}

function readVersion(database: DatabaseSync): number {
  const row = database.prepare("PRAGMA user_version").get() as { user_version: number };
  return row.user_version;
}
