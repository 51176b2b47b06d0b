/** The store of the user's sessions, for the time of one command. */
import { rm } from "node:fs/promises";
import { getCompileCacheDir } from "node:module";
import { createStore } from "@sheaf/agent/assemble/wire-stores";
import { createConfig, type Config } from "@sheaf/agent/config/config";
import { type SharedStore, isPostgresAddress } from "@sheaf/store/store";
import type { CommandIo } from "./io.ts";
import { SheafError } from "@sheaf/base/errors";
import type { FlagValues } from "./flags.ts";

/** Opens the store, calls `use` with it, and closes it again. `workspace`: the last `--workspace`. */
export async function withSessionStore<Result>(
  { environment, cwd }: CommandIo,
  workspace: string | undefined,
  use: (store: SharedStore, config: Config) => Promise<Result>,
): Promise<Result> {
  const config = createConfig({ workspace }, environment, cwd);
  const useOnce = async (): Promise<Result> => {
    const store = await createStore(config.storeFile);
    try {
      return await use(store, config);
    } finally {
      await store.close();
    }
  };
  return useOnce().catch(async (error: unknown) => {
    const compiled = environment.NODE_COMPILE_CACHE === undefined ? getCompileCacheDir() : undefined;
    if (!(error instanceof SheafError) || error.code !== "STORAGE_FULL" || compiled === undefined) throw error;
    // SQLite needs some space even to read and to delete; Node compiles Sheaf's code again.
    await rm(compiled, { recursive: true, force: true });
    return useOnce();
  });
}

/** Returns the file or database. No message shows other words, possible passwords. @throws SheafError USAGE. */
export function toStorePlace({ store }: FlagValues, { environment }: CommandIo, storeFile: string): string {
  const name = store === undefined ? "SHEAF_STORE" : "--store";
  const place = store ?? (environment.SHEAF_STORE || storeFile);
  if (place === storeFile || isPostgresAddress(place)) return place;
  throw new SheafError(
    "USAGE",
    `${name} does not name a PostgreSQL database: write postgres://USER@HOST:PORT/DATABASE, or leave it out to store in ${storeFile}`,
  );
}
