/** Opens stores. Each loads with its first use. */
import { SheafError } from "@sheaf/base/errors";
import type { SchemaState } from "@sheaf/store/migrations/migrate-postgres";
import type { StoreDump, TableName, TableSum } from "@sheaf/store/store-tables";
import { isPostgresAddress, type SharedStore } from "@sheaf/store/store";

/** The store of a file; `":memory:"` makes a store that lives as long as the process. */
export async function createStore(file: string): Promise<SharedStore> {
  const { createSqliteStore } = await import("@sheaf/store/sqlite");
  return createSqliteStore(file);
}

/** The store of a file, or of a PostgreSQL database, for a process that runs many responses at once. */
export async function createServerStore(place: string): Promise<SharedStore> {
  if (isPostgresAddress(place)) return (await import("@sheaf/store/postgres")).createPostgresStore(place);
  return (await import("@sheaf/store/threaded-sqlite")).createThreadedSqliteStore(place);
}

/** All rows of a store as they are now; `place` as in `createServerStore`. A file is migrated first. */
export async function openStoreDump(place: string): Promise<StoreDump> {
  if (isPostgresAddress(place)) return (await import("@sheaf/store/postgres-dump")).openPostgresDump(place);
  return (await import("@sheaf/store/sqlite-dump")).openSqliteDump(place);
}

/** Returns the schema that was there. */
export async function migrateStore(place: string): Promise<SchemaState> {
  if (isPostgresAddress(place)) {
    return (await import("@sheaf/store/postgres")).preparePostgres(place, { migrates: true });
  }
  return (await import("@sheaf/store/sqlite-dump")).migrateSqlite(place);
}

export async function vacuumStore(place: string): Promise<void> {
  if (isPostgresAddress(place)) await (await import("@sheaf/store/postgres-dump")).vacuumPostgres(place);
  else (await import("@sheaf/store/sqlite-dump")).vacuumSqlite(place);
}

/** Copies the store of a file to an empty database, and verifies it. @throws SheafError USAGE, STORAGE_… */
export async function copyStore(file: string, address: string): Promise<Readonly<Record<TableName, TableSum>>> {
  await migrateStore(address);
  const { fillPostgres } = await import("@sheaf/store/postgres-dump");
  const source = await openStoreDump(file);
  try {
    const message = `${source.waiting} waits in ${file}: run "sheaf serve" until it has ended, or cancel it there, then copy`;
    if (source.waiting !== undefined) throw new SheafError("CONVERSATION_BUSY", message, { source: "storage" });
    return await fillPostgres(address, source);
  } finally {
    await source.close();
  }
}
