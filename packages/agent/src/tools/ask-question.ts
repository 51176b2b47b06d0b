/** ask_question: asks the user, which ends the response (N42, C25). */
import { toFailure } from "./failure.ts";
import { flag, list, nonEmptyString, object, optional, type ArgumentsOf } from "./parameters.ts";
import type { Tool } from "./tool.ts";

const parameters = object({
  title: nonEmptyString("Why you ask, in one sentence"),
  questions: list(
    object({
      id: nonEmptyString("Unique id"),
      prompt: nonEmptyString("The question"),
      options: list(
        object({ id: nonEmptyString("Unique id"), label: nonEmptyString("What the user sees") }),
        0,
        20,
        "Empty for a free answer",
      ),
      allow_multiple: optional(flag("Whether several options may be chosen")),
    }),
    1,
    20,
    "The questions",
  ),
});

/** The answer comes with the next prompt; nobody makes one up. */
export const askQuestionTool: Tool<ArgumentsOf<typeof parameters>> = {
  name: "ask_question",
  description: "Ask the user one or more questions. The run ends; the answer comes with the next message.",
  documentType: "clarification",
  access: "state",
  parameters,
  async run({ title, questions }) {
    const twice = findRepeated(questions.map(({ id }) => id));
    if (twice !== undefined) return toFailure("INVALID_ARGUMENTS", `question "${twice}" is listed twice`);
    for (const { id, options } of questions) {
      const option = findRepeated(options.map((candidate) => candidate.id));
      if (option !== undefined) return toFailure("INVALID_ARGUMENTS", `option "${option}" of "${id}" is listed twice`);
    }
    return {
      status: "success",
      output: "The user was asked. The answer comes with the next message.",
      effect: {
        kind: "question",
        title,
        questions: questions.map(({ id, prompt, options, allow_multiple }) => ({
          id,
          text: prompt,
          options,
          allowText: true,
          ...(allow_multiple !== undefined && { allowMultiple: allow_multiple }),
        })),
      },
    };
  },
};

function findRepeated(ids: readonly string[]): string | undefined {
  return ids.find((id, index) => ids.indexOf(id) < index);
}
