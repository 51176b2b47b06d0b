/** Documents of type todo_update (R13, N41). */
import type { StreamWriter } from "./stream-writer.ts";
import type { ToolDocument, ToolOrigin } from "./tool-document.ts";

/** Comes with the result: only the list of the conversation tells what the call has changed. */
export function createTodoDocument(writer: StreamWriter, origin: ToolOrigin): ToolDocument {
  let documentId: string | undefined;
  const start = () => (documentId ??= writer.startDocument("todo_update", origin));
  return {
    get documentId() {
      return documentId;
    },
    start,
    setArguments: () => {
      // The arguments are a wish; what has changed is in the result.
    },
    end: ({ effect }) => {
      writer.endDocument(start(), { todos: effect?.kind === "todo" ? effect.changes : [], ...origin });
    },
  };
}
