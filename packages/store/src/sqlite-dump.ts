/** Reads a SQLite file as rows, in one transaction, so that it looks the same from start to end. */
import { statSync } from "node:fs";
import { SheafError } from "@sheaf/base/errors";
import type { SchemaState } from "./migrations/migrate-postgres.ts";
import { newestSchema } from "./migrations/migrate.ts";
import { openSqliteConnection } from "./sqlite-connection.ts";
import { tableColumns, tableOrders, type Cell, type StoreDump, type TableName, type TableRow } from "./store-tables.ts";

/** Opens a dump, which changes no row. @throws SheafError STORAGE_…; CONFIG_INVALID for a file with an older schema. */
export function openSqliteDump(file: string): StoreDump {
  const connection = openSqliteConnection(file, file, "look");
  const findings = connection.run(() => connection.prepare("PRAGMA integrity_check(20)").all()) as {
    integrity_check: string;
  }[];
  connection.run(() => connection.prepare("BEGIN").run());

  async function* rows(table: TableName): AsyncGenerator<TableRow> {
    const columns = Object.entries(tableColumns[table]);
    const names = columns.map(([name]) => name).join();
    const source = table === "event_groups" ? `(${selectWithArrived})` : table;
    const found = connection.prepare(`SELECT ${names} FROM ${source} ORDER BY ${tableOrders[table].join()}`).iterate();
    const next = (): IteratorResult<unknown> => connection.run(() => found.next() as IteratorResult<unknown>);
    for (let step = next(); !step.done; step = next()) {
      const row = step.value as Record<string, Cell | Uint8Array>;
      for (const [name, type] of columns) {
        if (type === "boolean") row[name] = row[name] === 1;
        if (type === "bytea") row[name] = Buffer.from(row[name] as Uint8Array).toString("base64");
      }
      yield row as TableRow;
    }
  }

  return {
    place: file,
    schema: connection.foundSchema,
    rows,
    waiting: connection.run(() => connection.prepare(selectWaiting).get()?.["id"]) as string | undefined,
    problems: findings.map((finding) => finding.integrity_check).filter((text) => text !== "ok"),
    close: async () => connection.close(),
  };
}

/** Finds a waiting message, even if a server has just returned it: for a second no server may start it. */
const selectWaiting = "SELECT id FROM orders WHERE response IS NULL AND failure IS NULL LIMIT 1";

const selectWithArrived = `SELECT response, first_seq, last_seq, events FROM event_groups
  UNION ALL SELECT response, first_seq, last_seq, events FROM arrived_groups`;

/** Returns the schema before the migration. @throws SheafError STORAGE_… */
export function migrateSqlite(file: string): SchemaState {
  const connection = openSqliteConnection(file);
  connection.close();
  return { version: connection.foundSchema, newest: Math.max(connection.foundSchema, newestSchema) };
}

/** Returns the space of deleted rows to the disk. @throws SheafError STORAGE_LOCKED while another process uses it. */
export function vacuumSqlite(file: string): void {
  const connection = openSqliteConnection(file);
  try {
    connection.run(() => connection.prepare("VACUUM").run());
    connection.run(() => connection.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get());
  } catch (error) {
    if (!(error instanceof SheafError) || error.code !== "STORAGE_FULL") throw error;
    const megabytes = Math.ceil((2 * statSync(file).size) / 1e6);
    throw error.withMessage(
      `${file} needs ${megabytes} MB of free disk for this: free them, then run sheaf store vacuum`,
    );
  } finally {
    connection.close();
  }
}
