/** Tools of both databases: one template for statements, scripts of several statements, and one mapper of rows. */
import type { Durability } from "./store.ts";
import { tableColumns, type TableName } from "./store-tables.ts";

export type SqlValue = string | number | boolean | null | undefined | Uint8Array;

/** A statement or a part of one, with its values between the texts. Names of tables start with `sheaf.`. */
export interface Sql {
  readonly texts: readonly string[];
  readonly values: readonly SqlValue[];
}

/** A script, which yields statements and gets the rows of each. */
export type Statements<Result> = Generator<Sql, Result, readonly object[]>;

/** The parts that differ between the two kinds of database. */
export interface Dialect {
  /** SQL for the number of the last event of the response `r`. */
  readonly lastSeq: string;
  readonly jsonArray: "json_array" | "json_build_array";
  /** Condition that conversation `c`, or the answer or first events `g` of response `r`, contain a text in any case. */
  contains(place: "title" | "answer" | "prompt", text: string): Sql;
  /** Returns additional columns of a row. */
  toAdded(table: TableName, row: Readonly<Record<string, unknown>>): Readonly<Record<string, string | null>>;
  /** Locks a name until the end of the transaction; undefined: this process is the only writer. */
  lock(name: string): Sql | undefined;
}

/** A database for the shared statements. Failures are SheafErrors. */
export interface SqlDatabase {
  readonly dialect: Dialect;
  readonly read: <Row extends object>(statement: Sql) => Promise<readonly Row[]>;
  /** Runs a statement that may run twice. */
  write(durability: Durability, statement: Sql): Promise<readonly object[]>;
  /** Runs a script as a whole or not at all. `isDoubtful`: an earlier try may have been stored. */
  transact<Result>(durability: Durability, script: (isDoubtful: boolean) => Statements<Result>): Promise<Result>;
}

function isSql(part: SqlValue | Sql): part is Sql {
  return typeof part === "object" && part !== null && "texts" in part;
}

/** Makes a statement. Values become parameters; parts of statements become text. */
export function sql(texts: readonly string[], ...parts: readonly (SqlValue | Sql)[]): Sql {
  const all = [texts[0]!];
  const values: SqlValue[] = [];
  const append = (text: string): void => void (all[all.length - 1] += text);
  for (const [index, part] of parts.entries()) {
    if (isSql(part)) {
      append(part.texts[0]!);
      all.push(...part.texts.slice(1));
      values.push(...part.values);
      append(texts[index + 1]!);
    } else {
      values.push(part);
      all.push(texts[index + 1]!);
    }
  }
  return { texts: all, values };
}

/** Makes a statement from a text of Sheaf itself, never of users or models. */
export function raw(text: string): Sql {
  return { texts: [text], values: [] };
}

function join(parts: readonly (SqlValue | Sql)[]): Sql {
  return sql(["", ...parts.slice(1).map(() => ", "), ""], ...parts);
}

/** Inserts a row, which is `t` in `rest`, the end of the statement. */
export function insert(
  dialect: Dialect,
  table: TableName,
  row: Readonly<Record<string, SqlValue | Sql>>,
  rest: Sql,
): Sql {
  const all = { ...row, ...dialect.toAdded(table, row) };
  const names = Object.keys(all).join(", ");
  return sql`${raw(`INSERT INTO sheaf.${table} AS t (${names})`)} VALUES (${join(Object.values(all))}) ${rest}`;
}

/** Makes the part after SET, for the columns that have a value. */
export function assign(dialect: Dialect, table: TableName, row: Readonly<Record<string, SqlValue>>): Sql {
  const given = Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined));
  const all = Object.entries({ ...given, ...dialect.toAdded(table, given) });
  if (all.length === 0) return raw("id = id");
  return join(all.map(([name, value]) => sql`${raw(`${name} =`)} ${value}`));
}

/** Selects columns under their names in code: `created_at` as `createdAt`. */
export function select(table: TableName, alias: string, names: readonly string[]): Sql {
  for (const name of names) if (!(name in tableColumns[table])) throw new RangeError(`${table} has no column ${name}`);
  return raw(names.map((name) => `${alias}.${name} AS "${toCamelCase(name)}"`).join(", "));
}

function toCamelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Names of the columns with a type, in all tables. */
export function listNames(type: string): readonly string[] {
  const columns = Object.values(tableColumns).flatMap((all) => Object.entries(all));
  return columns.filter(([, other]) => other === type).map(([name]) => toCamelCase(name));
}

/** Locks these names, one after the other, until the end of the script. */
export function* lock(dialect: Dialect, ...names: readonly string[]): Statements<void> {
  for (const name of names) {
    const statement = dialect.lock(name);
    if (statement) yield statement;
  }
}

/** Yields one statement of a script, with the type of its rows. */
export function* step<Row extends object>(statement: Sql): Statements<readonly Row[]> {
  return (yield statement) as readonly Row[];
}
