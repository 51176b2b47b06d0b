import { useRef } from "preact/hooks";
import { useConversation } from "../conversation/conversation-port.ts";
import { Button } from "../elements/button.tsx";
import { Card } from "../elements/card.tsx";
import { useRemembered } from "../elements/remembered.ts";
import { Markdown } from "../markdown/markdown.tsx";
import { useMessages } from "../messages/use-messages.ts";
import {
  chooseOption,
  chooseText,
  type AnswerDraft,
  emptyEntry,
  type AnswerEntry,
  isAnswered,
  type AskedQuestion,
  readQuestions,
  toAnswers,
  toDraft,
  toMessage,
  writeText,
} from "./clarification-form.ts";
import { isOpen, type ViewProps } from "./view.ts";

/** A form with questions of the model. The conversation's next request carries its answers (R11, N42, N73). */
export function ClarificationView({ document, responseId, isCurrent }: ViewProps) {
  const messages = useMessages();
  const { canSend, isAsking, sendAnswers, findAnswers } = useConversation();
  const [written, setDraft] = useRemembered<AnswerDraft>(`${responseId}/${document.id}/draft`, {});
  const form = useRef<HTMLFormElement>(null);
  const sent = isCurrent ? undefined : findAnswers(responseId);
  const draft = sent ? toDraft(sent, document.id) : isCurrent ? written : {};
  const questions = readQuestions(document.metadata);
  const content = document.content ?? "";
  const canAnswer = isCurrent && isAsking && !isOpen(document);
  const open = questions.filter(({ id }) => !isAnswered(draft[id]));
  const isReady = open.length < questions.length;
  const send = (): void => {
    if (!isReady || !canSend) return;
    sendAnswers(toAnswers(document.id, questions, draft), toMessage(questions, draft, messages.questionSkipped));
  };
  /** Moves to the next open question on Enter, and sends only after the last one: the user skips none by accident. */
  const goOn = (event: KeyboardEvent): void => {
    const { target, key, isComposing, ctrlKey, metaKey } = event;
    if (key !== "Enter" || isComposing || !(target instanceof HTMLInputElement)) return;
    event.preventDefault();
    const fields = [...(form.current?.querySelectorAll("fieldset") ?? [])];
    const position = fields.findIndex((field) => field.contains(target));
    const next = open.find((question) => questions.indexOf(question) > position) ?? open[0];
    if (next === undefined || ctrlKey || metaKey) send();
    else fields[questions.indexOf(next)]?.querySelector("input")?.focus();
  };
  return (
    <Card kind="clarification" icon="question" title={messages.question({ questions: questions.length })}>
      {isSameText(content, questions) ? undefined : (
        <Markdown text={content} isComplete={!isOpen(document)} memoryKey={`${responseId}/${document.id}`} />
      )}
      <form
        class="questions"
        ref={form}
        onKeyDown={goOn}
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        {questions.map((question) => (
          <QuestionField
            key={question.id}
            question={question}
            name={`${responseId}/${document.id}/${question.id}`}
            entry={draft[question.id] ?? emptyEntry}
            isDisabled={!canAnswer}
            isSkipped={sent !== undefined && !isAnswered(draft[question.id])}
            onChange={(entry) => setDraft({ ...draft, [question.id]: entry })}
          />
        ))}
        {canAnswer ? (
          <div class="card-buttons">
            <button type="submit" class="primary-button" disabled={!isReady || !canSend}>
              {messages.sendAnswers({ questions: questions.length })}
            </button>
            <span class="button-note">
              {isReady && open.length > 0 ? messages.answersLeft({ questions: open.length }) : messages.orWriteFreely}
            </span>
          </div>
        ) : undefined}
      </form>
    </Card>
  );
}

/** True if the content only repeats the single question. */
function isSameText(content: string, questions: readonly AskedQuestion[]): boolean {
  return content.trim() === "" || (questions.length === 1 && questions[0]!.text.trim() === content.trim());
}

interface QuestionFieldProps {
  readonly question: AskedQuestion;
  readonly name: string;
  readonly entry: AnswerEntry;
  readonly isDisabled: boolean;
  /** True if the user sent answers without one to this question. */
  readonly isSkipped: boolean;
  readonly onChange: (entry: AnswerEntry) => void;
}

function QuestionField({ question, name, entry, isDisabled, isSkipped, onChange }: QuestionFieldProps) {
  const messages = useMessages();
  const { options, allowsMultiple, allowsText } = question;
  const type = allowsMultiple ? "checkbox" : "radio";
  return (
    <fieldset class="question" disabled={isDisabled}>
      <legend>
        <span dir="auto">{question.text}</span>
        {allowsMultiple ? <span class="question-note"> {messages.chooseSeveral}</span> : undefined}
        {isSkipped ? <span class="question-note"> {messages.questionSkipped}</span> : undefined}
      </legend>
      {options.map((option) => (
        <label class="option" key={option.id}>
          <input
            type={type}
            name={name}
            checked={entry.optionIds.includes(option.id)}
            onChange={(event) => onChange(chooseOption(question, entry, option.id, event.currentTarget.checked))}
          />
          <span dir="auto">{option.label}</span>
        </label>
      ))}
      {allowsText ? (
        <OtherAnswer question={question} name={name} type={type} entry={entry} onChange={onChange} />
      ) : undefined}
      {isDisabled || !isAnswered(entry) ? undefined : (
        <Button
          kind="plain"
          label={messages.clearAnswer}
          class="question-clear"
          aria-label={messages.clearAnswerTo({ question: question.text })}
          onClick={() => onChange(emptyEntry)}
        />
      )}
    </fieldset>
  );
}

interface OtherAnswerProps extends Pick<QuestionFieldProps, "question" | "name" | "entry" | "onChange"> {
  readonly type: "checkbox" | "radio";
}

/** A text field: the whole answer to a question without options, otherwise one more choice. */
function OtherAnswer({ question, name, type, entry, onChange }: OtherAnswerProps) {
  const messages = useMessages();
  const field = useRef<HTMLInputElement>(null);
  const isOnly = question.options.length === 0;
  const text = (
    <input
      type="text"
      class="text-field"
      dir="auto"
      ref={field}
      aria-label={isOnly ? question.text : messages.otherAnswerTo({ question: question.text })}
      placeholder={isOnly ? messages.yourAnswer : messages.otherAnswer}
      value={entry.text}
      onInput={(event) => onChange(writeText(question, entry, event.currentTarget.value))}
    />
  );
  if (isOnly) return text;
  return (
    <div class="option option-other">
      <input
        type={type}
        name={name}
        aria-label={messages.otherAnswer}
        checked={entry.hasText}
        onChange={({ currentTarget: { checked } }) => {
          onChange(chooseText(question, entry, checked));
          if (checked) field.current?.focus();
        }}
      />
      {text}
    </div>
  );
}
