/** What rows of a conversation can do, apart from their documents. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";

export interface ConversationActions {
  /** A new conversation that shares everything up to this response. */
  readonly fork: (responseId: string) => void;
  /** Undoes this response, everything after it, and the file changes. */
  readonly revert: (responseId: string) => void;
}

export const ConversationActionsContext = createContext<ConversationActions>({
  fork: () => undefined,
  revert: () => undefined,
});

export function useConversationActions(): ConversationActions {
  return useContext(ConversationActionsContext);
}
