/** Where a server's conversations are: its file, or the database that it was told. */
import { SheafError } from "@sheaf/base/errors";
import { isPostgresAddress } from "@sheaf/store/store";
import type { FlagValues } from "./flags.ts";
import type { CommandIo } from "./io.ts";

/** Words that name no database are not repeated: they may contain a password. @throws SheafError USAGE. */
export function toStorePlace({ store }: FlagValues, { environment }: CommandIo, storeFile: string): string {
  const name = store === undefined ? "SHEAF_STORE" : "--store";
  const place = store ?? (environment.SHEAF_STORE || storeFile);
  if (place === storeFile || isPostgresAddress(place)) return place;
  throw new SheafError(
    "USAGE",
    `${name} does not name a PostgreSQL database: write postgres://USER@HOST:PORT/DATABASE, or leave it out to store in ${storeFile}`,
  );
}
