/** Takes over a response whose server died. */
import type { RunEvent } from "@sheaf/protocol";
import { endClaimedResponse } from "@sheaf/agent/run/conversations/end-cut-response";
import { toCutLog, type CutLog } from "@sheaf/agent/run/conversations/cut-log";
import { SheafError } from "@sheaf/base/errors";
import { createBusyError, isBusyError } from "@sheaf/store/store";
import { isStoreAway } from "./ask-patiently.ts";
import type { StoredRequest } from "./claim-messages.ts";
import type { ServerContext } from "./server-context.ts";
import { planResponse, runPlan } from "./start-response.ts";

/**
 * Resolves once the response continues or has ended. Resolves with false if it may not, or another server has it.
 * @throws HttpError, SheafError if it can't continue here; another server may try.
 */
export async function takeOverResponse(responseId: string, owner: string, context: ServerContext): Promise<boolean> {
  const store = context.storeOf(owner);
  const { cluster } = store;
  const text = await cluster?.findCut(responseId);
  if (!cluster || text === undefined) return false;
  await context.takeStartTurn();
  const { body, newConversationId: conversationId, start } = JSON.parse(text) as StoredRequest;
  // The log already contains the answers.
  const asked = { ...body, conversationId, answers: [] };
  const plan = await planResponse(asked, owner, context, { claimed: responseId });
  const { workspace } = plan.run;
  // Another server may reach the files if this one can't.
  await context.trees.fetch({ id: conversationId, workspace });
  let isOurs = false;
  // The server died before it stored the message. The client sent the message again, and got this response's id.
  const beginLog = async (planned: StoredRequest["start"]): Promise<readonly RunEvent[]> => {
    const first: RunEvent = { type: "run_start", ...planned, seq: 1, time: context.now() };
    await store.appendEvents(responseId, [first], "synced");
    return [first];
  };
  const takeOver = async (): Promise<CutLog> => {
    if (!(await cluster.takeOver(responseId))) throw createBusyError(conversationId);
    isOurs = true;
    const events = await store.readEvents(responseId);
    const cut = toCutLog(
      events.length > 0 ? events : await beginLog(start),
      context.trees.findRoot(workspace) !== undefined,
    );
    if (!cut) throw createEndingError();
    return cut;
  };
  try {
    await runPlan(plan, "reject", context, { request: undefined, starting: new AbortController(), takeOver });
  } catch (error) {
    // While the store is away, it is unknown how far the response is: this server or another one tries again.
    const isUnknown = isBusyError(error) || isStoreAway(error);
    if (isOurs && !isUnknown) {
      context.onDefect(error);
      await endClaimedResponse(store, responseId, context.now, start);
      return true;
    }
    if (isOurs) await store.leaveResponse(responseId);
    if (isBusyError(error)) return false;
    throw error;
  }
  return true;
}

/** Thrown for a response that only had to end, or whose beginning isn't stored. */
function createEndingError(): SheafError {
  return new SheafError("INTERRUPTED", "the response cannot continue, so it ends", { source: "server" });
}
