/** What a conversation remembers, rebuilt from its logs. */
import { applyToState, createToolState, type ToolState } from "../../tools/tool-state.ts";
import type { ModelMessage } from "../../model/provider.ts";
import { createContextSize } from "../compaction.ts";
import { createHistory } from "../history.ts";
import { createBusyError, type Store } from "../../store/store.ts";
import { listEndedResponses } from "./end-cut-response.ts";

export interface OpenConversation {
  /** `conv_<uuid>`. */
  readonly id: string;
  /** What the model saw and said so far. */
  readonly messages: readonly ModelMessage[];
  readonly state: ToolState;
  /** What the messages take of a model's window, about. */
  readonly tokens: number;
}

/**
 * Reads a conversation; one that is not stored is new and empty. What a dead process left open is ended first.
 * @throws SheafError CONVERSATION_BUSY while a response of it is being written; STORAGE_…
 */
export async function openConversation(store: Store, id: string, now: () => number): Promise<OpenConversation> {
  const history = createHistory();
  const state = createToolState();
  const size = createContextSize();
  for (const response of await listEndedResponses(store, id, now)) {
    if (!response.ended) throw createBusyError(id);
    if (response.reverted) continue;
    for (const event of await store.readEvents(response.id)) {
      history.push(event);
      applyToState(state, event);
      size.push(event);
    }
  }
  return { id, messages: history.messages, state, tokens: size.tokens };
}
