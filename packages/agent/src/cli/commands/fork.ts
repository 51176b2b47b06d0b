/** `sheaf fork SESSION [RESPONSE]`: a session of its own that begins with what was said until then. */
import { createConfig } from "../../config/config.ts";
import { forkConversation } from "../../run/conversations/fork.ts";
import { SheafError } from "../../base/errors.ts";
import { toBareId } from "../../output/result-line.ts";
import { createStore } from "../../assemble/wire.ts";
import { isUuid, type ParsedArguments } from "../arguments.ts";
import { checkFlags } from "../command-flags.ts";
import type { CommandIo } from "../io.ts";
import { printText } from "../print-text.ts";
import { now } from "../../assemble/wire.ts";

/** Prints the id of the new session; files stay as they are. @throws SheafError USAGE for what is not stored. */
export async function runFork(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  checkFlags(parsed);
  const [session = "", word, ...rest] = parsed.positionals;
  const response = word?.replace(/^chat_/, "");
  if (!isUuid(session) || rest.length > 0 || (response !== undefined && !isUuid(response))) {
    const given = parsed.positionals.join(" ");
    throw new SheafError("USAGE", `fork takes a session id, a UUID, and maybe a response id; "${given}" was given`);
  }
  const { storeFile } = createConfig({}, io.environment, io.cwd);
  const store = await createStore(storeFile);
  try {
    const id = `conv_${session.toLowerCase()}`;
    const last = (await store.listResponses(id)).findLast(({ reverted }) => !reverted)?.id;
    const responseId = response === undefined ? last : `chat_${response.toLowerCase()}`;
    const fork = responseId === undefined ? undefined : await forkConversation(store, id, responseId, now);
    if (fork) return await printText(`${toBareId(fork.id)}\n`);
    const what = response === undefined ? `the session ${session}` : `the response ${response} of ${session}`;
    throw new SheafError("USAGE", `${what} is not stored: see sheaf ls --all`);
  } finally {
    await store.close();
  }
}
