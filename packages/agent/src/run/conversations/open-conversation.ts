/** What a conversation remembers, rebuilt from its logs. */
import type { Progress } from "@sheaf/protocol";
import { applyToState, createToolState, type ToolState } from "../../tools/tool-state.ts";
import type { ModelMessage } from "@sheaf/models/provider";
import { createContextSize } from "../compaction.ts";
import { createHistory } from "../history.ts";
import { createKnownFacts, type KnownFacts } from "../prompts/environment-note.ts";
import { createBusyError, type Store } from "@sheaf/store/store";
import { listEndedResponses } from "./end-cut-response.ts";

export interface OpenConversation {
  /** `conv_<uuid>`. */
  readonly id: string;
  /** The messages to and from the model so far. */
  readonly messages: readonly ModelMessage[];
  readonly state: ToolState;
  /** What the model knows of mode and environment. */
  readonly known: KnownFacts;
  /** What it did so far. */
  readonly progress: Progress;
  /** Roughly how much of a model's window the messages take. */
  readonly tokens: number;
}

/**
 * Reads a conversation; one that is not stored is new and empty. Ends first what a dead process left open, but for the
 * response that goes on here, which leaves its state, and no messages yet.
 * @throws SheafError CONVERSATION_BUSY while one of its responses is being written; STORAGE_…
 */
export async function openConversation(
  store: Store,
  id: string,
  now: () => number,
  cutId?: string,
): Promise<OpenConversation> {
  const history = createHistory();
  const state = createToolState();
  const size = createContextSize();
  const known = createKnownFacts();
  for (const response of await listEndedResponses(store, id, now)) {
    if (response.id === cutId) {
      for (const event of await store.readEvents(response.id)) applyToState(state, event);
      continue;
    }
    if (!response.ended) throw createBusyError(id);
    if (response.reverted) continue;
    for (const event of await store.readEvents(response.id)) {
      history.push(event);
      applyToState(state, event);
      size.push(event);
      known.push(event);
    }
  }
  return { id, messages: history.messages, state, known, progress: history.progress, tokens: size.tokens };
}
