/** The user's entries in the form of a clarification, and the answers made from them (N42, N73). */
import type { ClarificationAnswer } from "@sheaf/protocol";
import { readObjects, readText } from "./metadata.ts";
import type { ForeignMetadata } from "./view.ts";

export interface AskedQuestion {
  readonly id: string;
  readonly text: string;
  readonly options: readonly { readonly id: string; readonly label: string }[];
  readonly allowsMultiple: boolean;
  readonly allowsText: boolean;
}

/** The chosen options and the text for one question. */
export interface AnswerEntry {
  readonly optionIds: readonly string[];
  readonly text: string;
  /** True if the text is an answer. It stays in the field, unused, while an option of a single choice is chosen. */
  readonly hasText: boolean;
}

/** Entries by question. */
export type AnswerDraft = Readonly<Record<string, AnswerEntry>>;

export const emptyEntry: AnswerEntry = { optionIds: [], text: "", hasText: false };

export function readQuestions(metadata: ForeignMetadata): AskedQuestion[] {
  return readObjects(metadata, "questions").map((question, index) => {
    const options = readObjects(question, "options").map((option) => ({
      id: readText(option, "id"),
      label: readText(option, "label"),
    }));
    return {
      id: readText(question, "id") || `${index}`,
      text: readText(question, "text"),
      options,
      allowsMultiple: question["allowMultiple"] === true,
      allowsText: options.length === 0 || question["allowText"] === true,
    };
  });
}

export function chooseOption(
  { allowsMultiple }: AskedQuestion,
  entry: AnswerEntry,
  id: string,
  isChosen: boolean,
): AnswerEntry {
  if (!allowsMultiple) return { ...entry, optionIds: [id], hasText: false };
  const others = entry.optionIds.filter((other) => other !== id);
  return { ...entry, optionIds: isChosen ? [...others, id] : others };
}

/** Makes the text an answer, or not. In a single choice, the text replaces the options. */
export function chooseText({ allowsMultiple }: AskedQuestion, entry: AnswerEntry, hasText: boolean): AnswerEntry {
  return { ...entry, hasText, optionIds: allowsMultiple || !hasText ? entry.optionIds : [] };
}

export function writeText(question: AskedQuestion, entry: AnswerEntry, text: string): AnswerEntry {
  return { ...chooseText(question, entry, question.options.length === 0 || text.trim() !== ""), text };
}

export function isAnswered({ optionIds, hasText, text }: AnswerEntry = emptyEntry): boolean {
  return optionIds.length > 0 || (hasText && text.trim() !== "");
}

/** Returns one answer for each question; a skipped question has an empty one (N73). */
export function toAnswers(
  documentId: string,
  questions: readonly AskedQuestion[],
  draft: AnswerDraft,
): readonly ClarificationAnswer[] {
  return questions.map(({ id }) => {
    const { optionIds, hasText, text } = draft[id] ?? emptyEntry;
    return { documentId, questionId: id, optionIds: [...optionIds], text: hasText ? text.trim() : "" };
  });
}

/** Returns sent answers as entries of the form. */
export function toDraft(answers: readonly ClarificationAnswer[], documentId: string): AnswerDraft {
  const own = answers.filter((answer) => answer.documentId === documentId);
  return Object.fromEntries(
    own.map(({ questionId, optionIds, text }) => [questionId, { optionIds, text, hasText: text.trim() !== "" }]),
  );
}

/** Returns the user's message for the conversation. */
export function toMessage(questions: readonly AskedQuestion[], draft: AnswerDraft, skipped: string): string {
  return questions
    .map(({ id, text, options }) => {
      const entry = draft[id] ?? emptyEntry;
      const labels = options.filter((option) => entry.optionIds.includes(option.id)).map(({ label }) => label);
      const written = entry.hasText ? entry.text.trim() : "";
      const answer = isAnswered(entry) ? [...labels, written].filter((part) => part !== "").join(", ") : skipped;
      return questions.length === 1 ? answer : `${text} ${answer}`;
    })
    .join("\n");
}
