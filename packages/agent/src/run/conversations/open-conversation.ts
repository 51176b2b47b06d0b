/** The memory of a conversation, rebuilt from its logs. */
import type { Progress } from "@sheaf/protocol";
import { applyToState, createToolState, type ToolState } from "../../tools/tool-state.ts";
import type { ModelMessage } from "@sheaf/models/provider";
import { createContextSize } from "../compaction.ts";
import { createHistory } from "../history.ts";
import { createKnownFacts, type KnownFacts } from "../prompts/environment-note.ts";
import { createBusyError, type Store } from "@sheaf/store/store";
import { listEndedResponses, readTogether } from "./end-cut-response.ts";

export interface OpenConversation {
  /** `conv_<uuid>`. */
  readonly id: string;
  /** The messages to and from the model so far. */
  readonly messages: readonly ModelMessage[];
  readonly state: ToolState;
  /** Mode and environment, as the model knows them. */
  readonly known: KnownFacts;
  readonly progress: Progress;
  /** Rough size of the messages. Tokens. */
  readonly tokens: number;
}

/**
 * Reads a conversation; an unknown id means a new, empty one. Ends the responses that dead processes left open, except
 * `cutId`, which continues here: that response adds its state, and no messages yet.
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
  const responses = await listEndedResponses(store, id, now);
  if (responses.some((response) => !response.ended && response.id !== cutId)) throw createBusyError(id);
  const kept = responses.filter((response) => !response.reverted || response.id === cutId);
  for await (const response of readTogether(store, kept)) {
    for (const event of response.events) {
      applyToState(state, event);
      if (response.id === cutId) continue;
      history.push(event);
      size.push(event);
      known.push(event);
    }
  }
  return { id, messages: history.messages, state, known, progress: history.progress, tokens: size.tokens };
}
