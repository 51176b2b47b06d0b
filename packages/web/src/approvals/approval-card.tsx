import type { ApprovalOption, ApprovalReason, ApprovalRequestData } from "@sheaf/protocol";
import { useState } from "preact/hooks";
import { useConversation } from "../conversation/conversation-port.ts";
import { Button } from "../elements/button.tsx";
import { Badge } from "../elements/card.tsx";
import { Icon } from "../elements/icon.tsx";
import { useNow } from "../elements/use-now.ts";
import { VisibleText } from "../elements/visible-text.tsx";
import type { Messages } from "../messages/messages.ts";
import { useMessages } from "../messages/use-messages.ts";
import { readText } from "../views/metadata.ts";
import { hasHiddenCharacters, listOptions, toSubjectText } from "./approval-kinds.ts";
import { ServerForm, toServerQuestion, type FormValues } from "./server-form.tsx";

interface ApprovalCardProps {
  readonly approval: ApprovalRequestData;
  readonly responseId: string;
  /** Name of the card; with its position if several are open. */
  readonly name: string;
  /** True if the user has decided here, but the server hasn't confirmed it. */
  readonly isSent: boolean;
  readonly onChoose: (option: ApprovalOption, answer: CardAnswer, event: UIEvent) => void;
}

/** Additions to the chosen option. */
interface CardAnswer {
  /** The user's reason for a refusal, for the model. */
  readonly reason: string;
  /** Values of the card's form; undefined if it has no form. */
  readonly values: FormValues | undefined;
}

/** Keys for the card with the focus, or else for the first one. */
const keys: Readonly<Record<string, string | undefined>> = { allow_once: "Alt+Y", reject_once: "Alt+N" };

/** One call that waits for a decision (X8, S-16), or the question of a tool server (X59). */
export function ApprovalCard({ approval, responseId, name, isSent, onChoose }: ApprovalCardProps) {
  const messages = useMessages();
  const { goToDocument } = useConversation();
  const [reason, setReason] = useState("");
  const question = toServerQuestion(approval);
  const [values, setValues] = useState<FormValues>(question?.arguments ?? {});
  const seconds = useSecondsLeft(approval.expiresAt);
  const options = listOptions(approval);
  const place = approval.answeredIn;
  const toButton = (option: ApprovalOption) => (
    <button
      type="button"
      key={option.id}
      class={option.kind === "allow_once" ? "primary-button" : "quiet-button"}
      aria-keyshortcuts={keys[option.kind]}
      disabled={isSent || seconds === 0}
      onClick={(event) => onChoose(option, { reason: reason.trim(), values: question && values }, event)}
    >
      <VisibleText text={question ? toQuestionLabel(option, messages) : toOptionLabel(option, messages)} />
    </button>
  );
  return (
    <div class="approval" role="group" aria-label={name} tabIndex={-1} data-approval={approval.approvalId}>
      <div class="approval-head">
        <Icon name="shield" />
        <strong>{name}</strong>
        {approval.agent === undefined ? undefined : (
          <Badge>
            {messages.subagent} <VisibleText text={approval.agent} />
          </Badge>
        )}
        <Button
          kind="plain"
          label={messages.showInAnswer}
          onClick={() => goToDocument(responseId, approval.documentId)}
        />
        {seconds === undefined ? undefined : <span class="approval-time">{toTimeText(seconds, messages)}</span>}
      </div>
      {question ? undefined : <ApprovalSubject subject={approval.subject} name={name} />}
      <ApprovalWhy approval={approval} />
      {place === undefined ? undefined : (
        <p class="approval-elsewhere">
          {Object.hasOwn(messages.approvalElsewhere, place)
            ? messages.approvalElsewhere[place]
            : messages.approvalElsewhere.program}
        </p>
      )}
      {place === undefined && question && question.fields.length > 0 ? (
        <ServerForm
          fields={question.fields}
          values={values}
          isDisabled={isSent || seconds === 0}
          onChange={setValues}
        />
      ) : undefined}
      <div class="approval-buttons" hidden={place !== undefined}>
        {options.filter(({ kind }) => !kind.endsWith("always")).map(toButton)}
        {question ? undefined : (
          <details class="approval-details">
            <summary>{messages.moreChoices}</summary>
            <div class="approval-buttons">
              {options.filter(({ kind }) => kind.endsWith("always")).map(toButton)}
              <input
                type="text"
                class="text-field approval-reason"
                aria-label={messages.approvalReason}
                placeholder={messages.approvalReason}
                value={reason}
                onInput={(event) => setReason(event.currentTarget.value)}
              />
            </div>
          </details>
        )}
      </div>
    </div>
  );
}

export function toSubjectName(approval: ApprovalRequestData, messages: Messages): string {
  const { subject, title } = approval;
  const question = toServerQuestion(approval);
  if (question) return messages.serverAsks({ server: question.server });
  const type = readText(subject, "type");
  return Object.hasOwn(messages.approvalSubjects, type) ? messages.approvalSubjects[type]! : title;
}

function toQuestionLabel({ kind }: ApprovalOption, messages: Messages): string {
  return kind.startsWith("allow") ? messages.answerServer : messages.declineServer;
}

/** Returns an option's label. Only rules (X45) show the effect of "always": without them, the server's label does. */
function toOptionLabel({ kind, label, rules }: ApprovalOption, messages: Messages): string {
  if (kind.endsWith("always")) {
    if (!Array.isArray(rules)) return label || (messages.approvalKinds[kind] ?? kind);
    const isAllowed = kind === "allow_always";
    if (rules.length === 0) return isAllowed ? messages.allowAlwaysThis : messages.rejectAlwaysThis;
    const words = rules.map((rule) => toRuleWords(rule, messages));
    const covered = { rules: words.join(messages.listSeparator) };
    return isAllowed ? messages.allowAlways(covered) : messages.rejectAlways(covered);
  }
  return Object.hasOwn(messages.approvalKinds, kind) ? messages.approvalKinds[kind] : label;
}

/** Describes a rule; a rule of an unknown kind stays as it is. */
function toRuleWords(rule: string, { ruleWords }: Messages): string {
  const [, kind = "", value = ""] = /^(\w+)\((.+)\)$/s.exec(rule) ?? [];
  return Object.hasOwn(ruleWords, kind) ? ruleWords[kind]!({ value }) : rule;
}

/** Reasons for which the server's sentence has more details than the translated code. */
const detailed: ReadonlySet<string> = new Set([
  "not_covered",
  "not_readable",
  "not_comparable",
  "untrusted_repository",
]);

/** The reason for the question in the page's language, or the server's sentence if that has more details (X34). */
function ApprovalWhy({ approval: { description, reason } }: { readonly approval: ApprovalRequestData }) {
  const messages = useMessages();
  const translated = translateReason(reason, messages);
  const hasDetails = description !== "" && translated !== undefined && detailed.has(reason?.code ?? "");
  return (
    <>
      {translated === undefined && description === "" ? undefined : (
        <VisibleText as="p" class="approval-text" dir="auto" text={translated ?? description} />
      )}
      {hasDetails ? (
        <details class="approval-details">
          <summary>{messages.details}</summary>
          <VisibleText as="p" lang="en" dir="auto" text={description} />
        </details>
      ) : undefined}
    </>
  );
}

function translateReason(reason: ApprovalReason | undefined, messages: Messages): string | undefined {
  const code = reason?.code ?? "";
  if (!Object.hasOwn(messages.approvalReasons, code)) return undefined;
  const value = typeof reason?.value === "string" ? reason.value : "";
  return code === "no_rule" && value === "" ? messages.noRule : messages.approvalReasons[code]!({ value });
}

/** The whole subject of the approval, uncut and with hidden characters visible (S-16). */
function ApprovalSubject({ subject, name }: Pick<ApprovalRequestData, "subject"> & { readonly name: string }) {
  const messages = useMessages();
  const isCommand = subject.type === "command" && readText(subject, "command") !== "";
  const folder = readText(subject, "workingDirectory");
  return (
    <>
      <VisibleText
        as="pre"
        class="approval-subject"
        tabIndex={0}
        role="region"
        aria-label={`${messages.approvalWhat}: ${name}`}
        text={toSubjectText(subject)}
      />
      {isCommand && folder !== "" && folder !== "." ? (
        <VisibleText as="p" class="approval-folder" text={messages.inFolder({ folder })} />
      ) : undefined}
      {hasHiddenCharacters(subject) ? <p class="approval-warning">{messages.hiddenWarning}</p> : undefined}
    </>
  );
}

function toTimeText(seconds: number, messages: Messages): string {
  if (seconds === 0) return messages.approvalExpired;
  const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  return messages.approvalExpires({ time });
}

/** Whole seconds until a moment; undefined if it isn't a date. */
function useSecondsLeft(moment: string): number | undefined {
  const end = Date.parse(moment);
  const now = useNow(end);
  return Number.isNaN(end) ? undefined : Math.max(0, Math.ceil((end - now) / 1000));
}
