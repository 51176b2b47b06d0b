/** Documents of type todo_update (R13, N41). */
import type { ToolCall, ToolDocument } from "./tool-document.ts";

/** Starts with the result: only the list of the conversation shows what the call changed. */
export function createTodoDocument(call: ToolCall): ToolDocument {
  return {
    open: () => call.start({}),
    end: ({ effect }) => call.end({ todos: effect?.kind === "todo" ? effect.changes : [] }, null),
  };
}
