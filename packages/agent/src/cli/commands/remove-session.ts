/** `sheaf rm SESSION…`: forgets sessions for good, with what was kept for taking them back. */
import { createConfig } from "../../config/config.ts";
import { SheafError } from "../../base/errors.ts";
import { createStore } from "../../assemble/wire.ts";
import { removeCheckpoints } from "../../workspace/checkpoints.ts";
import { isUuid, type ParsedArguments } from "../arguments.ts";
import { checkFlags } from "../command-flags.ts";
import type { CommandIo } from "../io.ts";

/** All or none. @throws SheafError USAGE for one that is not stored; CONVERSATION_BUSY for one that is written. */
export async function runRemoveSession(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  checkFlags(parsed);
  const { positionals } = parsed;
  const wrong = positionals.find((word) => !isUuid(word));
  if (positionals.length === 0 || wrong !== undefined) {
    throw new SheafError("USAGE", `rm takes session ids, UUIDs; "${wrong ?? ""}" was given`);
  }
  const { storeFile, dataFolder } = createConfig({}, io.environment, io.cwd);
  const store = await createStore(storeFile);
  try {
    const ids = positionals.map((word) => `conv_${word.toLowerCase()}`);
    for (const id of ids) {
      if (await store.getConversation(id)) continue;
      throw new SheafError("USAGE", `the session ${id.replace("conv_", "")} is not stored: see sheaf ls --all`);
    }
    for (const id of ids) {
      await store.deleteConversation(id);
      await removeCheckpoints(dataFolder, id);
    }
    return 0;
  } finally {
    await store.close();
  }
}
