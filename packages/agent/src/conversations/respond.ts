/** One response of a conversation: opened in the store, run, and delivered event by event. */
import type { RunEvent } from "@sheaf/protocol";
import type { SheafError } from "../errors.ts";
import { storeEvents } from "../run/run-log.ts";
import { runResponse, type RunPorts, type RunSettings } from "../run/run.ts";
import type { Store } from "../storage/store.ts";

/** Longest title of a conversation, in UTF-16 units. */
const MAX_TITLE = 80;

export interface RespondPorts extends RunPorts {
  readonly store: Store;
  /** Aborts the run; called when the store fails. */
  readonly abort: (reason: SheafError) => void;
}

/**
 * Gives the events of a response in the groups in which they were stored.
 * @throws SheafError STORAGE_… when the response cannot be opened; later failures are in the log's `run_end`.
 */
export async function* respond(
  settings: RunSettings,
  ports: RespondPorts,
  signal: AbortSignal,
): AsyncGenerator<readonly RunEvent[]> {
  const { store, abort, now } = ports;
  const { responseId, conversationId, workspace, prompt } = settings.start;
  await store.createResponse({
    id: responseId,
    conversationId,
    workspace,
    title: toTitle(prompt),
    createdAt: now(),
  });
  yield* storeEvents(runResponse(settings, ports, signal), { store, responseId, now, onStoreFailure: abort });
}

/** The first line of a prompt, shortened. */
function toTitle(prompt: string): string {
  const [line = ""] = prompt.trim().split("\n", 1);
  return line.length > MAX_TITLE ? `${line.slice(0, MAX_TITLE - 1).trimEnd()}…` : line;
}
