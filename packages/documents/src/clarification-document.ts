/** Documents of type clarification (R11, N42). */
import type { ClarificationQuestion } from "@sheaf/protocol";
import { type ContentDocument, startContentDocument } from "./content-document.ts";
import type { StreamWriter } from "./stream-writer.ts";
import { type ToolArguments, toListArgument, toTextArgument } from "./tool-arguments.ts";
import type { ToolDocument, ToolOrigin } from "./tool-document.ts";

/** Starts when the questions are known. Its content is the title. */
export function createClarificationDocument(writer: StreamWriter, origin: ToolOrigin): ToolDocument {
  let document: ContentDocument | undefined;
  let given: ToolArguments | undefined;

  const toAsked = () => ({
    title: toTextArgument(given, "title"),
    questions: toListArgument(given, "questions").map(toQuestion),
  });

  function open(): ContentDocument {
    if (document === undefined) {
      const { title, questions } = toAsked();
      document = startContentDocument(writer, "clarification", { questions, ...origin });
      document.write(title);
    }
    return document;
  }

  return {
    get documentId() {
      return document?.id;
    },
    start: () => open().id,
    setArguments: (event) => {
      if (given !== undefined) return;
      given = event.arguments;
      if (event.rawArguments === undefined) open();
    },
    end: ({ effect }) => {
      const opened = open();
      const { title, questions } = effect?.kind === "question" ? effect : toAsked();
      opened.end({ questions, ...origin }, title);
    },
  };
}

function toQuestion(values: ToolArguments): ClarificationQuestion {
  const { allow_multiple: allowMultiple } = values;
  return {
    id: toTextArgument(values, "id"),
    text: toTextArgument(values, "prompt"),
    options: toListArgument(values, "options").map((option) => ({
      id: toTextArgument(option, "id"),
      label: toTextArgument(option, "label"),
    })),
    ...(typeof allowMultiple === "boolean" ? { allowMultiple } : {}),
  };
}
