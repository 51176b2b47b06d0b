/** `sheaf show SESSION`: a stored conversation, printed again in any format (C31). */
import type { RunEvent } from "@sheaf/protocol";
import { createConfig } from "../../config/config.ts";
import { SheafError } from "../../base/errors.ts";
import type { Store } from "../../store/store.ts";
import { createStore } from "../../assemble/wire.ts";
import { isUuid, type ParsedArguments } from "../arguments.ts";
import { checkFlags } from "../command-flags.ts";
import { deliverEvents } from "../deliver.ts";
import type { CommandIo } from "../io.ts";
import { createChosenProjection, toOutputFormat } from "../output-choice.ts";
import { reportOutputError } from "../report-error.ts";
import { createLineOutput } from "../standard-output.ts";

/** Prints every response of the session that was not reverted, oldest first. @throws SheafError USAGE for an unknown session. */
export async function runShow(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  checkFlags(parsed);
  const { flags, positionals } = parsed;
  const [session, ...rest] = positionals;
  if (session === undefined || rest.length > 0 || !isUuid(session)) {
    throw new SheafError("USAGE", `show takes one session id, a UUID; "${positionals.join(" ")}" was given`);
  }
  const format = toOutputFormat(flags, io);
  const { storeFile } = createConfig({}, io.environment, io.cwd);
  const store = await createStore(storeFile);
  try {
    const responses = await store.listResponses(`conv_${session.toLowerCase()}`);
    if (responses.length === 0) {
      throw new SheafError(
        "USAGE",
        `the session ${session} is not stored in ${storeFile}: check the id, or SHEAF_HOME`,
      );
    }
    const output = createLineOutput(1);
    for (const response of responses) {
      if (response.reverted) continue;
      const projection = createChosenProjection(format, flags, io);
      const delivery = await deliverEvents(readGroups(store, response.id), { projection, output });
      if (delivery.outputError) return reportOutputError(delivery.outputError, flags.verbose ?? false);
    }
    return 0;
  } finally {
    await store.close();
  }
}

async function* readGroups(store: Store, responseId: string): AsyncGenerator<readonly RunEvent[]> {
  yield await store.readEvents(responseId);
}
