/** ask_question: asks the user, which ends the response (N42, C25). */
import * as z from "zod";
import { toFailure } from "./failure.ts";
import type { Tool } from "./tool.ts";

const parameters = z.object({
  title: z.string().min(1).describe("Why you ask, in one sentence"),
  questions: z
    .array(
      z.object({
        id: z.string().min(1),
        prompt: z.string().min(1),
        options: z
          .array(z.object({ id: z.string().min(1), label: z.string().min(1) }))
          .max(20)
          .describe("Empty for a free answer"),
        allow_multiple: z.boolean().optional(),
      }),
    )
    .min(1)
    .max(20),
});

/** The answer comes with the next prompt; nobody makes one up. */
export const askQuestionTool: Tool<z.infer<typeof parameters>> = {
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
