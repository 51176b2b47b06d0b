/** The connection between the views of documents and their conversation. */
import type { ClarificationAnswer } from "@sheaf/protocol";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Todo } from "../todos/fold-todos.ts";

export interface ConversationPort {
  readonly todos: readonly Todo[];
  /** True if no answer streams and the page is online. */
  readonly canSend: boolean;
  /** Starts agent mode with the plan of the conversation. */
  readonly buildPlan: () => void;
  /** Answers the clarification that ended the last response (N42). */
  readonly sendAnswers: (answers: readonly ClarificationAnswer[], text: string) => void;
  /** Scrolls to a document and gives it the focus. */
  readonly goToDocument: (responseId: string, documentId: string) => void;
  /** Keys of documents whose call waits for the user's decision (X8). */
  readonly waiting: ReadonlySet<string>;
  /** True if plan mode made the last response: the user can build its plan. */
  readonly isPlanned: boolean;
  /** True if the last response ended with a question. */
  readonly isAsking: boolean;
  /** Returns the answers that the user sent to the questions of a response. */
  readonly findAnswers: (responseId: string) => readonly ClarificationAnswer[] | undefined;
  /** Returns the type of one of the conversation's documents. */
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
