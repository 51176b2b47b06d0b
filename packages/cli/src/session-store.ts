/** The store of the user's sessions, for the time of one command. */
import { createStore } from "@sheaf/agent/assemble/wire-stores";
import { createConfig, type Config } from "@sheaf/agent/config/config";
import type { SharedStore } from "@sheaf/store/store";
import type { CommandIo } from "./io.ts";

/** Opens the store, calls `use` with it, and closes it again. `workspace`: the last `--workspace`. */
export async function withSessionStore<Result>(
  { environment, cwd }: CommandIo,
  workspace: string | undefined,
  use: (store: SharedStore, config: Config) => Promise<Result>,
): Promise<Result> {
  const config = createConfig({ workspace }, environment, cwd);
  const store = await createStore(config.storeFile);
  try {
    return await use(store, config);
  } finally {
    await store.close();
  }
}
