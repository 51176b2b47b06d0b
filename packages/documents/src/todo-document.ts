/** Documents of type todo_update (R13, N41). */
import type { ToolCallStart, ToolResult } from "@sheaf/protocol";
import type { StreamWriter } from "./stream-writer.ts";
import { type ToolDocument, toToolOrigin } from "./tool-document.ts";

/** Comes with the result: only the list of the conversation tells what the call has changed. */
export function createTodoDocument(writer: StreamWriter, call: ToolCallStart): ToolDocument {
  return new TodoWriter(writer, call);
}

class TodoWriter implements ToolDocument {
  documentId: string | undefined;
  readonly #writer: StreamWriter;
  readonly #call: ToolCallStart;

  constructor(writer: StreamWriter, call: ToolCallStart) {
    this.#writer = writer;
    this.#call = call;
  }

  setArguments(): void {
    // The arguments are a wish; what has changed is in the result.
  }

  start(): string {
    this.documentId ??= this.#writer.startDocument("todo_update", toToolOrigin(this.#call));
    return this.documentId;
  }

  end(result: ToolResult): void {
    const documentId = this.start();
    const todos = result.effect?.kind === "todo" ? result.effect.changes : [];
    const metadata = { todos, ...toToolOrigin(this.#call) };
    this.#writer.write({ event: "document_end", data: { documentId, metadata } });
  }
}
