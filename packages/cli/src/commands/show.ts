/** `sheaf show SESSION`: a stored conversation, printed again in any format (C31). */
import type { RunEvent } from "@sheaf/protocol";
import { createOutputMask } from "@sheaf/agent/output/event-mask";
import { now } from "@sheaf/agent/assemble/wire";
import { SheafError } from "@sheaf/base/errors";
import { toBareId } from "@sheaf/agent/output/result-line";
import { readLogs } from "@sheaf/agent/run/conversations/end-cut-response";
import type { ParsedArguments } from "../arguments.ts";
import { deliverEvents } from "../deliver.ts";
import type { CommandIo } from "../io.ts";
import { createChosenProjection, toOutputFormat } from "../output-choice.ts";
import { reportOutputError } from "../report-error.ts";
import { withSessionStore } from "../session-store.ts";
import { findConversation } from "../session-words.ts";

/**
 * Prints a session's responses, oldest first, except reverted ones. A run whose process died ends as `interrupted`.
 * @throws SheafError USAGE for an unknown session; CONVERSATION_BUSY after the written part of an unfinished response.
 */
export async function runShow(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const { flags, positionals } = parsed;
  const [word = ""] = positionals;
  const format = toOutputFormat(flags, io);
  return withSessionStore(io, undefined, async (store) => {
    const conversationId = await findConversation(store, word);
    const output = io.openOutput();
    for await (const { events } of readLogs(store, conversationId, now)) {
      const projection = await createChosenProjection(format, flags, io, { showsFailure: true });
      const mask = flags.unmasked ? undefined : createOutputMask(io.environment);
      const delivery = await deliverEvents(toGroups(events), { projection, output, mask });
      if (delivery.outputError) return reportOutputError(delivery.outputError, flags.verbose ?? false, io);
      if (!delivery.end) throw createUnendedError(conversationId);
    }
    return 0;
  });
}

function createUnendedError(conversationId: string): SheafError {
  const session = toBareId(conversationId);
  return new SheafError(
    "CONVERSATION_BUSY",
    `the last response of ${session} is still being written: this is its beginning; show it again when it has ended`,
    { source: "storage" },
  );
}

async function* toGroups(events: readonly RunEvent[]): AsyncGenerator<readonly RunEvent[]> {
  yield events;
}
