/** What a conversation remembers, rebuilt from its logs. */
import { applyToState, createConversationState, type ConversationState } from "../tools/conversation-state.ts";
import type { ModelMessage } from "../providers/provider.ts";
import { createHistory } from "../run/history.ts";
import type { Store } from "../storage/store.ts";

export interface OpenConversation {
  /** `conv_<uuid>`. */
  readonly id: string;
  /** What the model saw and said so far. */
  readonly messages: readonly ModelMessage[];
  readonly state: ConversationState;
}

/** Reads a conversation; one that is not stored is new and empty. */
export async function openConversation(store: Store, id: string): Promise<OpenConversation> {
  const history = createHistory();
  const state = createConversationState();
  for (const response of await store.listResponses(id)) {
    for (const event of await store.readEvents(response.id)) {
      history.push(event);
      applyToState(state, event);
    }
  }
  return { id, messages: history.messages, state };
}
