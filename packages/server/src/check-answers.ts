/** Answers to the questions of the response before (N42, N73). */
import type { ClarificationAnswer, ClarificationDocument } from "@sheaf/protocol";
import { SheafError } from "@sheaf/base/errors";
import type { ResponseRecord, Store } from "@sheaf/store/store";
import { readResponse } from "./log-reader.ts";
import type { WireOptions } from "./response-channel.ts";

/** @returns the answer to every question. @throws SheafError USAGE with the name of the field. */
export async function checkAnswers(
  answers: readonly ClarificationAnswer[],
  last: Pick<ResponseRecord, "id"> | undefined,
  store: Store,
  wire: WireOptions,
): Promise<readonly ClarificationAnswer[]> {
  if (answers.length === 0) return answers;
  const response = last && (await readResponse(store, last.id, wire));
  const asked = response?.documents.filter((document) => document.type === "clarification") ?? [];
  for (const [index, answer] of answers.entries()) {
    const problem = findProblem(answer, asked);
    if (problem === undefined) continue;
    const [field, message] = problem;
    const told = `the body is not valid at answers.${index}.${field}: ${message}`;
    throw new SheafError("USAGE", told, { source: "server" });
  }
  return asked.flatMap((document) => addSkipped(document, answers));
}

/** Answers the questions of one document: skipped questions get empty answers (N73), unless all were skipped. */
function addSkipped(
  { id: documentId, metadata: { questions } }: ClarificationDocument,
  answers: readonly ClarificationAnswer[],
): readonly ClarificationAnswer[] {
  const given = answers.filter((answer) => answer.documentId === documentId);
  if (given.length === 0) return [];
  const isSkipped = (id: string): boolean => !given.some(({ questionId }) => questionId === id);
  return questions.flatMap(({ id }) =>
    isSkipped(id)
      ? [{ documentId, questionId: id, optionIds: [], text: "" }]
      : given.filter(({ questionId }) => questionId === id),
  );
}

type Problem = readonly [field: keyof ClarificationAnswer, message: string];

function findProblem(answer: ClarificationAnswer, asked: readonly ClarificationDocument[]): Problem | undefined {
  const { documentId, questionId, optionIds } = answer;
  const document = asked.find(({ id }) => id === documentId);
  if (!document) return ["documentId", `the last response has no clarification ${quote(documentId)}`];
  const question = document.metadata.questions.find(({ id }) => id === questionId);
  if (!question) return ["questionId", `${quote(questionId)} was not asked`];
  const unknown = optionIds.find((optionId) => !question.options.some(({ id }) => id === optionId));
  if (unknown !== undefined) return ["optionIds", `${quote(unknown)} is not an option of ${quote(questionId)}`];
  if (optionIds.length > 1 && question.allowMultiple !== true) {
    return ["optionIds", `${quote(questionId)} takes one option`];
  }
  return undefined;
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
