/** What the views of documents can do to their conversation. */
import type { ClarificationAnswer } from "@sheaf/protocol";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Todo } from "../todos/fold-todos.ts";

export interface ConversationPort {
  /** The current list. */
  readonly todos: readonly Todo[];
  /** Nothing streams, and the server can be reached. */
  readonly canSend: boolean;
  /** Starts agent mode with the plan of the conversation. */
  readonly buildPlan: () => void;
  /** Answers the clarification that ended the last response (N42). */
  readonly sendAnswers: (answers: readonly ClarificationAnswer[], text: string) => void;
  /** Scrolls to a document and gives it the focus. */
  readonly goToDocument: (responseId: string, documentId: string) => void;
  /** Keys of documents whose call waits for the user's decision (X8). */
  readonly waiting: ReadonlySet<string>;
  /** The last response was made in plan mode: its plan waits to be built. */
  readonly isPlanned: boolean;
  /** The last response ended with a question. */
  readonly isAsking: boolean;
  /** The user's answers to the questions of a response, once they were sent. */
  readonly findAnswers: (responseId: string) => readonly ClarificationAnswer[] | undefined;
  /** Type of a document of the conversation. */
  readonly findDocumentType: (responseId: string, documentId: string) => string | undefined;
}

export const ConversationContext = createContext<ConversationPort>({
  todos: [],
  canSend: false,
  buildPlan: () => undefined,
  sendAnswers: () => undefined,
  goToDocument: () => undefined,
  waiting: new Set(),
  isPlanned: false,
  isAsking: false,
  findAnswers: () => undefined,
  findDocumentType: () => undefined,
});

export function useConversation(): ConversationPort {
  return useContext(ConversationContext);
}
