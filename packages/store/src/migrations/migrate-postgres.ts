/** Migrates a PostgreSQL database to the newest schema. `sheaf.migrations` counts the steps taken. */
import { SheafError } from "@sheaf/base/errors";
import { sheafVersion } from "@sheaf/base/version";
import type { Query } from "../postgres-connection.ts";
import { checkReadable, type StoredSchema } from "./migrate.ts";

/**
 * Steps, each of which runs once, in order; a released step never changes. Programs that know fewer steps may run
 * meanwhile, so a step only adds: tables, indexes, and columns that have a default or may be null. A step with
 * which those programs can't work sets `readable_from` to its own number.
 */
const steps: readonly string[] = [
  `CREATE TABLE sheaf.holders (
     id bigint PRIMARY KEY,
     alive_until timestamptz NOT NULL
   );
   CREATE TABLE sheaf.conversations (
     key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     id text NOT NULL UNIQUE,
     owner text NOT NULL,
     workspace text NOT NULL,
     title text NOT NULL,
     title_words text NOT NULL,
     created_at bigint NOT NULL,
     updated_at bigint NOT NULL,
     settings text NOT NULL DEFAULT '{}',
     pinned boolean NOT NULL DEFAULT false,
     fence bigint NOT NULL DEFAULT 0,
     holder bigint,
     cancel boolean NOT NULL DEFAULT false
   );
   CREATE INDEX conversations_by_update ON sheaf.conversations (owner, updated_at, key);
   CREATE INDEX conversations_by_pin ON sheaf.conversations (owner, pinned, updated_at, key);
   CREATE TABLE sheaf.responses (
     key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     id text NOT NULL UNIQUE,
     conversation bigint NOT NULL REFERENCES sheaf.conversations (key) ON DELETE CASCADE,
     position integer NOT NULL,
     created_at bigint NOT NULL,
     ended boolean NOT NULL DEFAULT false,
     reverted boolean NOT NULL DEFAULT false,
     prompt_tokens bigint NOT NULL DEFAULT 0,
     completion_tokens bigint NOT NULL DEFAULT 0,
     cost_usd double precision,
     answer text NOT NULL DEFAULT '',
     answer_words text NOT NULL DEFAULT '',
     UNIQUE (conversation, position)
   );
   CREATE INDEX open_responses ON sheaf.responses (key) WHERE NOT ended;
   CREATE TABLE sheaf.event_groups (
     response bigint NOT NULL,
     first_seq integer NOT NULL,
     last_seq integer NOT NULL,
     events text NOT NULL,
     prompt_words text,
     PRIMARY KEY (response, first_seq)
   );
   CREATE TABLE sheaf.requests (
     owner text NOT NULL,
     key text NOT NULL,
     digest text NOT NULL,
     response bigint NOT NULL REFERENCES sheaf.responses (key) ON DELETE CASCADE,
     created_at bigint NOT NULL,
     PRIMARY KEY (owner, key)
   );
   CREATE INDEX requests_by_response ON sheaf.requests (response);
   CREATE TABLE sheaf.owner_usage (
     owner text NOT NULL,
     day text NOT NULL,
     turns bigint NOT NULL,
     cost_usd double precision NOT NULL,
     PRIMARY KEY (owner, day)
   );`,
  `CREATE TABLE sheaf.letters (
     key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     id text NOT NULL UNIQUE,
     response bigint NOT NULL REFERENCES sheaf.responses (key) ON DELETE CASCADE,
     body text NOT NULL,
     taken boolean NOT NULL DEFAULT false,
     reply text
   );
   CREATE INDEX letters_by_response ON sheaf.letters (response);`,
  `CREATE TABLE sheaf.orders (
     key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     id text NOT NULL UNIQUE,
     owner text NOT NULL,
     conversation text NOT NULL,
     body text NOT NULL,
     request_key text,
     request_digest text,
     response bigint UNIQUE REFERENCES sheaf.responses (key) ON DELETE CASCADE,
     holder bigint,
     tries integer NOT NULL DEFAULT 0,
     not_before timestamptz NOT NULL DEFAULT clock_timestamp(),
     failure text,
     failed_at timestamptz
   );
   CREATE INDEX orders_by_conversation ON sheaf.orders (conversation, key);
   CREATE INDEX orders_by_request ON sheaf.orders (owner, request_key) WHERE request_key IS NOT NULL;`,
  `ALTER TABLE sheaf.orders ADD COLUMN resumes boolean NOT NULL DEFAULT false;`,
  `CREATE TABLE sheaf.attachments (
     id text PRIMARY KEY,
     owner text NOT NULL,
     name text NOT NULL,
     media_type text NOT NULL,
     size bigint NOT NULL,
     created_at bigint NOT NULL,
     bytes bytea NOT NULL
   );
   CREATE INDEX attachments_by_owner ON sheaf.attachments (owner, size);
   CREATE INDEX attachments_by_time ON sheaf.attachments (created_at);`,
  `ALTER TABLE sheaf.migrations ADD COLUMN readable_from integer NOT NULL DEFAULT 0;
   ALTER TABLE sheaf.migrations ADD COLUMN written_by text NOT NULL DEFAULT '';`,
  `ALTER TABLE sheaf.orders ADD COLUMN place integer NOT NULL DEFAULT 0;
   ALTER TABLE sheaf.orders ADD COLUMN steers boolean NOT NULL DEFAULT false;
   ALTER TABLE sheaf.orders ADD COLUMN told bigint REFERENCES sheaf.responses (key) ON DELETE CASCADE;
   CREATE INDEX orders_by_told ON sheaf.orders (told) WHERE told IS NOT NULL;`,
  "ALTER TABLE sheaf.responses ADD COLUMN parent integer",
];

/** Lock during changes of the schema: the bytes of "sheaf". */
const LOCK = 0x7368656166;

/** Oldest version of PostgreSQL that is tested. */
const OLDEST = 15;

/** The schema of a database, compared with the schema that this program makes. */
export interface SchemaState {
  /** Version of the schema; 0: an empty database. */
  readonly version: number;
  /** The newest version, at least `version`: a program can be older than the schema. */
  readonly newest: number;
}

/** @throws SheafError CONFIG_INVALID for a database that cannot be used, or that a newer Sheaf changed. */
export async function readSchemaState(query: Query): Promise<SchemaState> {
  const [server] = await query<{ version: number; encoding: string }>(
    `SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding`,
  );
  const major = Math.floor(server!.version / 10_000);
  if (major < OLDEST) {
    throw createFault(`it is PostgreSQL ${major}, and Sheaf needs ${OLDEST} or newer: use a newer server`);
  }
  if (server!.encoding !== "UTF8") {
    throw createFault(`its encoding is ${server!.encoding}, and Sheaf needs UTF8: create another database`);
  }
  const schema = await readSchema(query);
  checkReadable(schema, steps.length, "use another database");
  return { version: schema.version, newest: Math.max(schema.version, steps.length) };
}

/**
 * Migrates within a transaction; processes that start at once wait for each other. `upTo`: an older schema, as an older
 * program made it. @throws SheafError as `readSchemaState`.
 */
export async function migratePostgres(query: Query, upTo = steps.length): Promise<void> {
  await query(`SELECT pg_advisory_xact_lock(${LOCK})`);
  const { version } = await readSchemaState(query);
  // Less than the time after which the database looks for deadlocks, so no statement of a running server is cancelled.
  await query("SET LOCAL lock_timeout = '200ms'");
  if (version === 0) await createSchema(query);
  for (const step of steps.slice(version, upTo)) await query(step);
  if (version < upTo) await query("UPDATE sheaf.migrations SET version = $1", [upTo]);
  if (version < upTo && upTo === steps.length)
    await query("UPDATE sheaf.migrations SET written_by = $1", [sheafVersion]);
}

async function createSchema(query: Query): Promise<void> {
  const found = await query("SELECT 1 FROM pg_namespace WHERE nspname = 'sheaf'");
  // A user without the right to create schemas may have received one.
  if (found.length === 0) await query("CREATE SCHEMA sheaf");
  await query("CREATE TABLE sheaf.migrations (version integer NOT NULL)");
  await query("INSERT INTO sheaf.migrations VALUES (0)");
}

async function readSchema(query: Query): Promise<StoredSchema> {
  // The catalog is read, because the cache of `to_regclass` may be older than the lock.
  const found = await query(
    `SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = 'sheaf' AND c.relname = 'migrations'`,
  );
  if (found.length === 0) return { version: 0 };
  const [schema] = await query<StoredSchema>("SELECT * FROM sheaf.migrations");
  return schema!;
}

function createFault(problem: string): SheafError {
  return new SheafError("CONFIG_INVALID", `the database cannot be the store: ${problem}`, { source: "storage" });
}
