/** PostgreSQL as the shared statements need it. */
import { findPrompt } from "./encode-events.ts";
import type { PostgresConnection, Query } from "./postgres-connection.ts";
import { raw, sql, type Dialect, type Statements, type Sql, type SqlDatabase } from "./sql.ts";

/** Replacement for NUL, the one character that PostgreSQL texts can't contain; users don't write it. */
const STAND_IN = "\u{10FFFF}";

export function toColumn(text: string): string {
  return text.replaceAll("\0", STAND_IN);
}

/** Restores texts of users in a row. */
export function restoreTexts<Row extends object>(row: Row): Row {
  const texts = row as Record<string, unknown>;
  for (const name of ["title", "name"]) {
    const text = texts[name];
    if (typeof text === "string") texts[name] = text.replaceAll(STAND_IN, "\0");
  }
  return row;
}

/** Prepares a text for searches that ignore case. */
export function toWords(text: string): string {
  return toColumn(text.toLowerCase());
}

const searched = { title: "c.title_words", answer: "r.answer_words", prompt: "g.prompt_words" };

export const postgresDialect: Dialect = {
  lastSeq: `COALESCE(
    (SELECT g.last_seq FROM sheaf.event_groups g WHERE g.response = r.key ORDER BY g.first_seq DESC LIMIT 1), 0)`,
  jsonArray: "json_build_array",
  contains: (place, text) => sql`strpos(${raw(searched[place])}, ${toWords(text)}) > 0`,
  // Columns for searches.
  toAdded(table, { title, answer, first_seq: first, events }): Readonly<Record<string, string | null>> {
    if (table === "conversations" && typeof title === "string") return { title_words: toWords(title) };
    if (table === "responses" && typeof answer === "string") return { answer_words: toWords(answer) };
    if (table !== "event_groups") return {};
    const prompt = first === 1 ? findPrompt(events as string) : undefined;
    return { prompt_words: prompt === undefined ? null : toWords(prompt) };
  },
  lock: (name) => sql`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`,
};

/** Runs a shared statement. */
export async function runPostgres<Row extends object>(query: Query, { texts, values }: Sql): Promise<readonly Row[]> {
  const text = texts.reduce((before, after, index) => `${before}$${index}${after}`);
  const given = values.map((value) => (typeof value === "string" ? toColumn(value) : (value ?? null)));
  return (await query<Row>(text, given)).map(restoreTexts);
}

/** Runs a script; the caller opens a transaction. */
export async function runPostgresScript<Result>(query: Query, script: Statements<Result>): Promise<Result> {
  let step = script.next([]);
  while (!step.done) step = script.next(await runPostgres(query, step.value));
  return step.value;
}

export function createPostgresDatabase({ query, transact }: PostgresConnection): SqlDatabase {
  return {
    dialect: postgresDialect,
    read: (statement) => runPostgres(query, statement),
    write: (_, statement) => runPostgres(query, statement),
    transact: (_, script) => transact((run, isDoubtful) => runPostgresScript(run, script(isDoubtful))),
  };
}
