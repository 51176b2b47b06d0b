/** `sheaf show SESSION`: a stored conversation, printed again in any format (C31). */
import type { RunEvent } from "@sheaf/protocol";
import type { Store } from "../../store/store.ts";
import type { ParsedArguments } from "../arguments.ts";
import { toSessionWord } from "../command-flags.ts";
import { deliverEvents } from "../deliver.ts";
import type { CommandIo } from "../io.ts";
import { createChosenProjection, toOutputFormat } from "../output-choice.ts";
import { reportOutputError } from "../report-error.ts";
import { withSessionStore } from "../session-store.ts";
import { findConversation } from "../session-words.ts";
import { createLineOutput } from "../standard-output.ts";

/** Prints every response of the session that was not reverted, oldest first. @throws SheafError USAGE for an unknown session. */
export async function runShow(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const { flags } = parsed;
  const word = toSessionWord(parsed);
  const format = toOutputFormat(flags, io);
  return withSessionStore(io, undefined, async (store) => {
    const responses = await store.listResponses(await findConversation(store, word));
    const output = createLineOutput(1);
    for (const response of responses) {
      if (response.reverted) continue;
      const projection = createChosenProjection(format, flags, io);
      const delivery = await deliverEvents(readGroups(store, response.id), { projection, output });
      if (delivery.outputError) return reportOutputError(delivery.outputError, flags.verbose ?? false);
    }
    return 0;
  });
}

async function* readGroups(store: Store, responseId: string): AsyncGenerator<readonly RunEvent[]> {
  yield await store.readEvents(responseId);
}
