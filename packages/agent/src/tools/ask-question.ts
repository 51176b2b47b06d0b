/** ask_question: asks the user, which ends the response (N42, C25). */
import * as s from "@sheaf/protocol/schema";
import { toFailure } from "./failure.ts";
import type { Tool } from "./tool.ts";
import { toObjects, toArgumentText, type GivenArguments } from "./tool-traits.ts";

const parameters = s.object({
  title: s.string({ minLength: 1, description: "Why you ask, in one sentence" }),
  questions: s.list(
    s.object({
      id: s.string({ minLength: 1 }),
      prompt: s.string({ minLength: 1 }),
      options: s.list(
        s.object({
          id: s.string({ minLength: 1 }),
          label: s.string({ minLength: 1 }),
        }),
        { minItems: 0, maxItems: 20, description: "Empty for a free answer" },
      ),
      allow_multiple: s.optional(s.boolean()),
    }),
    { minItems: 1, maxItems: 20 },
  ),
});

/** Asks the user, who answers with the next prompt; Sheaf never invents an answer. */
export const askQuestionTool: Tool<s.ValueOf<typeof parameters>> = {
  name: "ask_question",
  description: "Ask the user for decisions that you cannot make, all in one call. It ends the run.",
  access: "state",
  modes: ["ask", "plan"],
  isWithheld: true,
  words: ["Asked a question", "Rückfrage gestellt", "Soru soruldu", "質問しました", "已提出問題"],
  toCursor: ({ title, questions }) => ({
    askQuestionToolCall: { title: toArgumentText(title), questions: toObjects(questions).map(toShownQuestion) },
  }),
  aliases: ["askuserquestion", "askfollowupquestion"],
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
      output: "The user has the question. The next message has the answer.",
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

function toShownQuestion({ id, prompt, options, allow_multiple }: GivenArguments): Record<string, unknown> {
  return {
    id: toArgumentText(id),
    prompt: toArgumentText(prompt),
    options: toObjects(options).map((option) => ({
      id: toArgumentText(option.id),
      label: toArgumentText(option.label),
    })),
    allowMultiple: allow_multiple === true,
  };
}
