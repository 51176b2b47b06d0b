/** Makes documents of type todo_update (R13, N41). */
import type { ToolCall, ToolDocument } from "./tool-document.ts";

/** Starts the document with the result: only the conversation's list shows the call's changes. */
export function createTodoDocument(call: ToolCall): ToolDocument {
  return {
    open: () => call.start({}),
    end: ({ effect }) => call.end({ todos: effect?.kind === "todo" ? effect.changes : [] }, null),
  };
}
