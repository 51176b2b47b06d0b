import type { ApprovalAnswer, ApprovalOption, ApprovalRequestData } from "@sheaf/protocol";
import { useEffect, useState } from "preact/hooks";
import { useConversation } from "../conversation/conversation-port.ts";
import { useAnnounce } from "../elements/announcer.tsx";
import { toVisibleParts } from "../elements/hidden-characters.ts";
import { Icon } from "../elements/icon.tsx";
import { VisibleText } from "../elements/visible-text.tsx";
import { useMessages } from "../messages/use-messages.ts";
import { readText } from "../views/metadata.ts";
import type { ForeignMetadata } from "../views/view.ts";

interface ApprovalPanelProps {
  readonly approvals: readonly ApprovalRequestData[];
  readonly responseId: string;
  readonly onDecide: (approvalId: string, answer: ApprovalAnswer) => void;
}

/** Calls that wait for a decision. Above the message field, so that they are always visible (X8, S-16). */
export function ApprovalPanel({ approvals, responseId, onDecide }: ApprovalPanelProps) {
  const messages = useMessages();
  const announce = useAnnounce();
  const newest = approvals.at(-1);
  useEffect(() => {
    if (newest !== undefined) announce(messages.approvalAsked(toSubjectName(newest, messages.approvalSubjects)));
  }, [newest?.approvalId]);
  if (approvals.length === 0) return undefined;
  return (
    <section class="approvals" aria-label={messages.approvals}>
      {approvals.map((approval) => (
        <Approval key={approval.approvalId} approval={approval} responseId={responseId} onDecide={onDecide} />
      ))}
    </section>
  );
}

function toSubjectName({ subject, title }: ApprovalRequestData, names: Readonly<Record<string, string>>): string {
  const type = readText(subject, "type");
  return Object.hasOwn(names, type) ? names[type]! : title;
}

/** "Always" says what it covers, which only the server knows; the other labels are in the page's language. */
function toOptionLabel({ kind, label }: ApprovalOption, kinds: Readonly<Record<string, string>>): string {
  const isKnown = Object.hasOwn(kinds, kind);
  return isKnown && (!kind.endsWith("always") || label === "") ? kinds[kind]! : label;
}

interface ApprovalProps {
  readonly approval: ApprovalRequestData;
  readonly responseId: string;
  readonly onDecide: ApprovalPanelProps["onDecide"];
}

function Approval({ approval, responseId, onDecide }: ApprovalProps) {
  const messages = useMessages();
  const { goToDocument } = useConversation();
  const [reason, setReason] = useState("");
  const [isSent, setSent] = useState(false);
  const seconds = useSecondsLeft(approval.expiresAt);
  const decide = ({ id, kind }: ApprovalOption): void => {
    setSent(true);
    const isRefusal = kind.startsWith("reject");
    onDecide(approval.approvalId, {
      optionId: id,
      ...(isRefusal && reason.trim() !== "" && { message: reason.trim() }),
    });
  };
  const options = Array.isArray(approval.options) ? approval.options : [];
  return (
    <div class="approval" role="group" aria-label={toSubjectName(approval, messages.approvalSubjects)}>
      <div class="approval-head">
        <Icon name="shield" />
        <strong>{toSubjectName(approval, messages.approvalSubjects)}</strong>
        <button type="button" class="plain-button" onClick={() => goToDocument(responseId, approval.documentId)}>
          {messages.showInAnswer}
        </button>
        {seconds === undefined ? undefined : <span class="approval-time">{toTimeText(seconds, messages)}</span>}
      </div>
      <ApprovalSubject subject={approval.subject} />
      {approval.description === "" ? undefined : (
        <p class="approval-text" dir="auto">
          <VisibleText text={approval.description} />
        </p>
      )}
      <div class="approval-buttons">
        {options.map((option) => (
          <button
            type="button"
            key={option.id}
            class={option.kind === "allow_once" ? "primary-button" : "quiet-button"}
            disabled={isSent || seconds === 0}
            onClick={() => decide(option)}
          >
            <VisibleText text={toOptionLabel(option, messages.approvalKinds)} />
          </button>
        ))}
        <input
          type="text"
          class="text-field approval-reason"
          aria-label={messages.approvalReason}
          placeholder={messages.approvalReason}
          value={reason}
          onInput={(event) => setReason(event.currentTarget.value)}
        />
      </div>
    </div>
  );
}

/** Everything that would happen, with nothing cut and nothing hidden (S-16). */
function ApprovalSubject({ subject }: { readonly subject: ForeignMetadata }) {
  const messages = useMessages();
  const { type, ...rest } = subject;
  const command = readText(subject, "command");
  const isCommand = type === "command" && command !== "";
  const text = isCommand ? command : JSON.stringify(rest, undefined, 2);
  const folder = readText(subject, "workingDirectory");
  // The server already shows them as code points.
  const hasHidden = /<U\+[\dA-F]{4,6}/.test(text) || toVisibleParts(text).some(({ code }) => code !== undefined);
  return (
    <>
      <pre class="approval-subject" tabIndex={0} role="region" aria-label={messages.approvalWhat}>
        <VisibleText text={text} />
      </pre>
      {isCommand && folder !== "" && folder !== "." ? (
        <p class="approval-folder">
          <VisibleText text={messages.inFolder(folder)} />
        </p>
      ) : undefined}
      {hasHidden ? <p class="approval-warning">{messages.hiddenWarning}</p> : undefined}
    </>
  );
}

function toTimeText(seconds: number, messages: ReturnType<typeof useMessages>): string {
  if (seconds === 0) return messages.approvalExpired;
  const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  return messages.approvalExpires(time);
}

/** Whole seconds until a moment; undefined if none is given. */
function useSecondsLeft(moment: string): number | undefined {
  const end = Date.parse(moment);
  const [now, setNow] = useState(() => Date.now());
  const isOver = Number.isNaN(end) || end <= now;
  useEffect(() => {
    if (isOver) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [isOver]);
  return Number.isNaN(end) ? undefined : Math.max(0, Math.ceil((end - now) / 1000));
}
