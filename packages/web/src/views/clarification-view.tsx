import type { ClarificationAnswer } from "@sheaf/protocol";
import { useConversation } from "../conversation/conversation-port.ts";
import { Card } from "../elements/card.tsx";
import { useRemembered } from "../elements/remembered.ts";
import { Markdown } from "../markdown/markdown.tsx";
import { useMessages } from "../messages/use-messages.ts";
import { readObjects, readText } from "./metadata.ts";
import { type ForeignMetadata, isOpen, type ViewProps } from "./view.ts";

interface Question {
  readonly id: string;
  readonly text: string;
  readonly options: readonly { readonly id: string; readonly label: string }[];
  readonly allowsMultiple: boolean;
  readonly allowsText: boolean;
}

/** What the user has chosen and written so far, by question. */
type Draft = Readonly<Record<string, { readonly optionIds: readonly string[]; readonly text: string }>>;

const emptyEntry = { optionIds: [], text: "" };

/** R11, N42: a form; its answers are sent with the next request of the conversation. */
export function ClarificationView({ document, responseId, isCurrent }: ViewProps) {
  const messages = useMessages();
  const { canSend, isAsking, sendAnswers, findAnswers } = useConversation();
  const [written, setDraft] = useRemembered<Draft>(`${responseId}/${document.id}/draft`, {});
  const draft = isCurrent ? written : toDraft(findAnswers(responseId) ?? [], document.id);
  const questions = readQuestions(document.metadata);
  const content = document.content ?? "";
  const canAnswer = isCurrent && isAsking && !isOpen(document);
  const isReady = questions.length > 0 && questions.every((question) => isAnswered(draft[question.id]));
  const send = (event: Event): void => {
    event.preventDefault();
    if (isReady && canSend) sendAnswers(toAnswers(document.id, questions, draft), toMessage(questions, draft));
  };
  return (
    <Card kind="clarification" icon="question" title={messages.question(questions.length)}>
      {isSameText(content, questions) ? undefined : <Markdown text={content} isComplete={!isOpen(document)} />}
      <form onSubmit={send} class="questions">
        {questions.map((question) => (
          <QuestionField
            key={question.id}
            question={question}
            name={`${responseId}/${document.id}/${question.id}`}
            entry={draft[question.id] ?? emptyEntry}
            isDisabled={!canAnswer}
            onChange={(entry) => setDraft({ ...draft, [question.id]: entry })}
          />
        ))}
        {canAnswer ? (
          <div class="card-buttons">
            <button type="submit" class="primary-button" disabled={!isReady || !canSend}>
              {messages.sendAnswers}
            </button>
            <span class="button-note">{isReady ? messages.orWriteFreely : messages.answerAll}</span>
          </div>
        ) : undefined}
      </form>
    </Card>
  );
}

/** The answers as they were in the form. */
function toDraft(answers: readonly ClarificationAnswer[], documentId: string): Draft {
  const own = answers.filter((answer) => answer.documentId === documentId);
  return Object.fromEntries(own.map(({ questionId, optionIds, text }) => [questionId, { optionIds, text }]));
}

function readQuestions(metadata: ForeignMetadata): Question[] {
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

/** The content often repeats the only question. */
function isSameText(content: string, questions: readonly Question[]): boolean {
  return content.trim() === "" || (questions.length === 1 && questions[0]!.text.trim() === content.trim());
}

function isAnswered(entry: Draft[string] | undefined): boolean {
  return entry !== undefined && (entry.optionIds.length > 0 || entry.text.trim() !== "");
}

function toAnswers(documentId: string, questions: readonly Question[], draft: Draft): ClarificationAnswer[] {
  return questions.map(({ id }) => {
    const { optionIds, text } = draft[id] ?? emptyEntry;
    return { documentId, questionId: id, optionIds, text: text.trim() };
  });
}

/** The text that appears in the conversation as the user's message. */
function toMessage(questions: readonly Question[], draft: Draft): string {
  return questions
    .map(({ id, text, options }) => {
      const entry = draft[id] ?? emptyEntry;
      const labels = options.filter((option) => entry.optionIds.includes(option.id)).map(({ label }) => label);
      const answer = [...labels, entry.text.trim()].filter((part) => part !== "").join(", ");
      return questions.length === 1 ? answer : `${text} ${answer}`;
    })
    .join("\n");
}

interface QuestionFieldProps {
  readonly question: Question;
  readonly name: string;
  readonly entry: Draft[string];
  readonly isDisabled: boolean;
  readonly onChange: (entry: Draft[string]) => void;
}

function QuestionField({ question, name, entry, isDisabled, onChange }: QuestionFieldProps) {
  const messages = useMessages();
  const { options, allowsMultiple, allowsText } = question;
  const choose = (id: string, isChosen: boolean): void => {
    if (!allowsMultiple) return onChange({ ...entry, optionIds: [id] });
    const others = entry.optionIds.filter((other) => other !== id);
    onChange({ ...entry, optionIds: isChosen ? [...others, id] : others });
  };
  return (
    <fieldset class="question" disabled={isDisabled}>
      <legend dir="auto">{question.text}</legend>
      {options.map((option) => (
        <label class="option" key={option.id}>
          <input
            type={allowsMultiple ? "checkbox" : "radio"}
            name={name}
            checked={entry.optionIds.includes(option.id)}
            onChange={(event) => choose(option.id, event.currentTarget.checked)}
          />
          <span dir="auto">{option.label}</span>
        </label>
      ))}
      {allowsText ? (
        <input
          type="text"
          class="text-field"
          dir="auto"
          aria-label={question.text}
          placeholder={options.length === 0 ? messages.yourAnswer : messages.otherAnswer}
          value={entry.text}
          onInput={(event) => onChange({ ...entry, text: event.currentTarget.value })}
        />
      ) : undefined}
    </fieldset>
  );
}
