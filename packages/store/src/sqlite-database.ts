/** SQLite as the shared statements need it. */
import type { SqliteConnection } from "./sqlite-connection.ts";
import { lastSeqOfResponse } from "./sqlite-groups.ts";
import { listNames, raw, sql, type Dialect, type Statements, type Sql, type SqlDatabase } from "./sql.ts";

const searched = {
  title: "c.title",
  answer: "r.answer",
  // A damaged log doesn't end searches of all logs.
  prompt: "CASE WHEN json_valid(g.events) THEN json_extract(g.events, '$[0].prompt') END",
};

export const sqliteDialect: Dialect = {
  lastSeq: lastSeqOfResponse,
  jsonArray: "json_array",
  contains: (place, text) => sql`holds(${raw(searched[place])}, ${text.toLowerCase()})`,
  toAdded: () => ({}),
  lock: () => undefined,
};

const flags = new Set(listNames("boolean"));

/** Runs a shared statement; the caller opens a transaction, or needs none. */
export function runSqlite(connection: SqliteConnection, { texts, values }: Sql): readonly object[] {
  const given = values.map((value) => (typeof value === "boolean" ? Number(value) : (value ?? null)));
  const rows = connection.prepare(texts.join("?").replaceAll("sheaf.", "")).all(...given);
  return rows.map((row) => {
    const named: Record<string, unknown> = { ...row };
    for (const name in named) if (flags.has(name)) named[name] = named[name] === 1;
    return named;
  });
}

/** Runs all statements of a script at once, so that no other statement runs between them. */
export function runSqliteScript<Result>(connection: SqliteConnection, script: Statements<Result>): Result {
  let step = script.next([]);
  while (!step.done) step = script.next(runSqlite(connection, step.value));
  return step.value;
}

export function createSqliteDatabase(connection: SqliteConnection): SqlDatabase {
  return {
    dialect: sqliteDialect,
    read: async <Row extends object>(statement: Sql) =>
      connection.run(() => runSqlite(connection, statement) as readonly Row[]),
    write: async (durability, statement) => connection.transact(durability, () => runSqlite(connection, statement)),
    transact: async (durability, script) =>
      connection.transact(durability, () => runSqliteScript(connection, script(false))),
  };
}
