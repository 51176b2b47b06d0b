/** Makes documents of type clarification (R11, N42). */
import type { ClarificationQuestion } from "@sheaf/protocol";
import { type ToolArguments, toListArgument, toTextArgument } from "./tool-arguments.ts";
import type { ToolCall, ToolDocument } from "./tool-document.ts";

/** Starts the document once the questions are known. Its content is the title. */
export function createClarificationDocument(call: ToolCall): ToolDocument {
  const toAsked = () => ({
    title: toTextArgument(call.arguments, "title"),
    questions: toListArgument(call.arguments, "questions").map(toQuestion),
  });
  return {
    open: () => {
      const { title, questions } = toAsked();
      return call.start({ questions }, title);
    },
    takeArguments: () => {
      call.open();
    },
    end: ({ effect }) => {
      const { title, questions } = effect?.kind === "question" ? effect : toAsked();
      call.end({ questions }, title);
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
    ...(typeof allowMultiple === "boolean" && { allowMultiple }),
  };
}
