/** Documents of type clarification (R11, N42). */
import type { ClarificationQuestion, ToolCallArguments, ToolCallStart, ToolResult } from "@sheaf/protocol";
import { type ContentDocument, startContentDocument } from "./content-document.ts";
import type { StreamWriter } from "./stream-writer.ts";
import { type ToolArguments, toListArgument, toTextArgument } from "./tool-arguments.ts";
import { type ToolDocument, toToolOrigin } from "./tool-document.ts";

/** Starts when the questions are known. Its content is the title. */
export function createClarificationDocument(writer: StreamWriter, call: ToolCallStart): ToolDocument {
  return new ClarificationWriter(writer, call);
}

class ClarificationWriter implements ToolDocument {
  readonly #writer: StreamWriter;
  readonly #call: ToolCallStart;
  #document: ContentDocument | undefined;
  #arguments: ToolArguments | undefined;

  constructor(writer: StreamWriter, call: ToolCallStart) {
    this.#writer = writer;
    this.#call = call;
  }

  get documentId(): string | undefined {
    return this.#document?.id;
  }

  setArguments(event: ToolCallArguments): void {
    if (this.#arguments !== undefined) return;
    this.#arguments = event.arguments;
    if (event.rawArguments === undefined) this.start();
  }

  start(): string {
    return this.#open().id;
  }

  end(result: ToolResult): void {
    const document = this.#open();
    const asked = result.effect?.kind === "question" ? result.effect : this.#toAsked();
    document.end({ questions: asked.questions, ...toToolOrigin(this.#call) }, asked.title);
  }

  #open(): ContentDocument {
    if (this.#document === undefined) {
      const { title, questions } = this.#toAsked();
      const metadata = { questions, ...toToolOrigin(this.#call) };
      this.#document = startContentDocument(this.#writer, "clarification", metadata);
      this.#document.write(title);
    }
    return this.#document;
  }

  #toAsked(): { readonly title: string; readonly questions: readonly ClarificationQuestion[] } {
    const values = this.#arguments ?? {};
    return {
      title: toTextArgument(values, "title") ?? "",
      questions: toListArgument(values, "questions").map(toQuestion),
    };
  }
}

function toQuestion(values: ToolArguments): ClarificationQuestion {
  const multiple = values["allow_multiple"];
  return {
    id: toTextArgument(values, "id") ?? "",
    text: toTextArgument(values, "prompt") ?? "",
    options: toListArgument(values, "options").map((option) => ({
      id: toTextArgument(option, "id") ?? "",
      label: toTextArgument(option, "label") ?? "",
    })),
    ...(typeof multiple === "boolean" ? { allowMultiple: multiple } : {}),
  };
}
