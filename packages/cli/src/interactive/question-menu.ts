/** Puts the questions of the agent to the person at the terminal (N42). */
import { isCancel, multiselect, text } from "@clack/prompts";
import type { ClarificationAnswer, ClarificationDocument, ClarificationQuestion } from "@sheaf/protocol";
import { toVisibleLine, toVisibleText } from "@sheaf/agent/output/visible-text";
import { choose } from "./choose.ts";

/** The option to answer freely. No option of the model can have this id: their ids are printable. */
const OTHER = "\u0000other";

/** One answer per question; undefined if the person pressed Ctrl-C: no answer is made up (C25). */
export async function askQuestions({
  id,
  content,
  metadata,
}: ClarificationDocument): Promise<ClarificationAnswer[] | undefined> {
  const answers: ClarificationAnswer[] = [];
  for (const [index, question] of metadata.questions.entries()) {
    const title = index === 0 && content !== "" && content !== question.text ? `${toVisibleText(content)}\n` : "";
    const answer = await askQuestion(question, title);
    if (answer === undefined) return undefined;
    answers.push({ documentId: id, questionId: question.id, ...answer });
  }
  return answers;
}

type Answer = Pick<ClarificationAnswer, "optionIds" | "text">;

async function askQuestion(question: ClarificationQuestion, title: string): Promise<Answer | undefined> {
  const message = `${title}${toVisibleText(question.text)}`;
  if (question.options.length === 0) return askText(message);
  const options = question.options.map(({ id, label }) => ({ value: id, label: toVisibleLine(label) }));
  if (question.allowMultiple) {
    const chosen = await multiselect({ message, options, required: true });
    return isCancel(chosen) ? undefined : { optionIds: chosen, text: "" };
  }
  const chosen = await choose({
    message,
    options: [...options, { value: OTHER, label: "Something else …" }],
    initialValue: options[0]!.value,
  });
  if (chosen === undefined) return undefined;
  return chosen === OTHER ? askText("Your answer") : { optionIds: [chosen], text: "" };
}

async function askText(message: string): Promise<Answer | undefined> {
  const answer = await text({
    message,
    validate: (value) => (value?.trim() ? undefined : "Say something, or press Ctrl-C"),
  });
  return isCancel(answer) ? undefined : { optionIds: [], text: answer };
}
