/** Reads a PostgreSQL store as rows, and writes rows as a PostgreSQL store. */
import { SheafError } from "@sheaf/base/errors";
import { createOldStoreError } from "./migrations/migrate.ts";
import { readSchemaState } from "./migrations/migrate-postgres.ts";
import { createPostgresConnection, type Query } from "./postgres-connection.ts";
import { postgresDialect, restoreTexts, toColumn } from "./postgres-database.ts";
import {
  createTableSum,
  tableColumns,
  tableNames,
  tableOrders,
  type Cell,
  type StoreDump,
  type TableName,
  type TableRow,
  type TableSum,
} from "./store-tables.ts";

/** Rows in one fetch: a row of a log may have megabytes, and a row of an attachment has. */
const PAGE = 50;
const ATTACHMENT_PAGE = 1;

/** Most rows in one statement, and most UTF-16 units of text. */
const MAX_ROWS = 500;
const MAX_LENGTH = 2 * 1024 * 1024;

/** Reads with one snapshot. @throws SheafError STORAGE_…, CONFIG_INVALID. */
export async function openPostgresDump(address: string): Promise<StoreDump> {
  const connection = createPostgresConnection(address);
  const begun = Promise.withResolvers<Query>();
  const ended = Promise.withResolvers<void>();
  const over = connection.transact(async (query) => {
    await query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY");
    begun.resolve(query);
    await ended.promise;
  });
  over.catch(begun.reject);
  const close = async (): Promise<void> => {
    ended.resolve();
    await over.catch(() => undefined);
    await connection.close();
  };
  try {
    const query = await begun.promise;
    const { version, newest } = await readSchemaState(query);
    if (version !== newest) throw createOldStoreError(connection.place, version, newest);
    return { place: connection.place, schema: version, rows: (table) => readTable(query, table), problems: [], close };
  } catch (error) {
    await close();
    throw connection.toError(error);
  }
}

async function* readTable(query: Query, table: TableName): AsyncGenerator<TableRow> {
  const columns = Object.keys(tableColumns[table]);
  const order = tableOrders[table].map((name) => (tableColumns[table][name] === "text" ? `${name} COLLATE "C"` : name));
  const cursor = `dump_${table}`;
  await query(
    `DECLARE ${cursor} NO SCROLL CURSOR FOR SELECT ${columns.join()} FROM sheaf.${table} ORDER BY ${order.join()}`,
  );
  const size = table === "attachments" ? ATTACHMENT_PAGE : PAGE;
  for (;;) {
    const page = await query<Record<string, Cell | Buffer>>(`FETCH ${size} FROM ${cursor}`);
    for (const row of page) yield toTableRow(row);
    if (page.length < size) break;
  }
  await query(`CLOSE ${cursor}`);
}

function toTableRow(row: Record<string, Cell | Buffer>): TableRow {
  if (Buffer.isBuffer(row["bytes"])) row["bytes"] = row["bytes"].toString("base64");
  return restoreTexts(row) as TableRow;
}

/**
 * Fills an empty store, whose tables exist, with all rows of another one: all or nothing. Reads the rows again.
 * @throws SheafError USAGE for a store that isn't empty, STORAGE_CORRUPT if the rows differ.
 */
export async function fillPostgres(
  address: string,
  source: Pick<StoreDump, "rows">,
): Promise<Readonly<Record<TableName, TableSum>>> {
  const connection = createPostgresConnection(address);
  const sums: Partial<Record<TableName, TableSum>> = {};
  try {
    return await connection.transact(async (query, isDoubtful) => {
      // Running servers can read the store meanwhile, but not write it.
      await query("LOCK TABLE sheaf.conversations, sheaf.orders IN EXCLUSIVE MODE");
      const found = await query("SELECT 1 FROM sheaf.conversations UNION ALL SELECT 1 FROM sheaf.orders LIMIT 1");
      // An earlier try has filled the store.
      if (found.length > 0 && isDoubtful) return sums as Record<TableName, TableSum>;
      if (found.length > 0) {
        const message = `${connection.place} is not empty: name another one, or remove its schema (DROP SCHEMA sheaf CASCADE)`;
        throw new SheafError("USAGE", message, { source: "storage" });
      }
      await query("DELETE FROM sheaf.owner_usage; DELETE FROM sheaf.attachments");
      for (const table of tableNames) sums[table] = await copyTable(query, table, source);
      for (const table of ["conversations", "responses"]) {
        await query(`SELECT setval(pg_get_serial_sequence('sheaf.${table}', 'key'),
          COALESCE((SELECT MAX(key) FROM sheaf.${table}), 0) + 1, false)`);
      }
      return sums as Record<TableName, TableSum>;
    });
  } finally {
    await connection.close();
  }
}

async function copyTable(query: Query, table: TableName, source: Pick<StoreDump, "rows">): Promise<TableSum> {
  const given = createTableSum(table);
  let batch: TableRow[] = [];
  let length = 0;
  for await (const row of source.rows(table)) {
    given.add(row);
    batch.push(row);
    for (const cell of Object.values(row)) if (typeof cell === "string") length += cell.length;
    if (batch.length < MAX_ROWS && length < MAX_LENGTH) continue;
    await insertRows(query, table, batch);
    batch = [];
    length = 0;
  }
  if (batch.length > 0) await insertRows(query, table, batch);
  const stored = createTableSum(table);
  for await (const row of readTable(query, table)) stored.add(row);
  const [wanted, found] = [given.end(), stored.end()];
  if (wanted.count === found.count && wanted.hash === found.hash) return found;
  const message = `of ${wanted.count} rows of ${table}, ${found.count} arrived, or some with other content: nothing was copied`;
  throw new SheafError("STORAGE_CORRUPT", message, { source: "storage" });
}

async function insertRows(query: Query, table: TableName, rows: readonly TableRow[]): Promise<void> {
  const columns = Object.entries(tableColumns[table]);
  const values: Cell[][] = columns.map(([name, type]) =>
    rows.map((row) => (type === "text" ? toColumn(row[name] as string) : row[name]!)),
  );
  const types = columns.map(([, type]) => (type === "bytea" ? "text" : type));
  const read = columns.map(([name, type]) => (type === "bytea" ? `decode(i.${name}, 'base64')` : `i.${name}`));
  const names = columns.map(([name]) => name);
  const added = rows.map((row) => postgresDialect.toAdded(table, row));
  for (const name of Object.keys(added[0]!)) {
    names.push(name);
    types.push("text");
    read.push(`i.${name}`);
    values.push(added.map((row) => row[name]!));
  }
  const overriding = names[0] === "key" ? "OVERRIDING SYSTEM VALUE" : "";
  const lists = types.map((type, index) => `$${index + 1}::${type}[]`);
  await query(
    `INSERT INTO sheaf.${table} (${names.join()}) ${overriding}
     SELECT ${read.join()} FROM unnest(${lists.join()}) AS i (${names.join()})`,
    values,
  );
}

/** Frees the space of deleted rows, and updates the planner's statistics. @throws SheafError. */
export async function vacuumPostgres(address: string): Promise<void> {
  const connection = createPostgresConnection(address);
  try {
    const tables = await connection.query<{ name: string }>(
      "SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'sheaf'",
    );
    for (const { name } of tables) await connection.query(`VACUUM (ANALYZE) sheaf.${name}`);
  } finally {
    await connection.close();
  }
}
