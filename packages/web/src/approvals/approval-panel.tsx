import type { ApprovalAnswer, ApprovalRequestData } from "@sheaf/protocol";
import type { ComponentProps } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { focusComposer } from "../composer/focus-composer.ts";
import { useAnnounce } from "../elements/announcer.tsx";
import { Button } from "../elements/button.tsx";
import { Icon } from "../elements/icon.tsx";
import { listen } from "../elements/listen.ts";
import { VisibleText } from "../elements/visible-text.tsx";
import type { Messages } from "../messages/messages.ts";
import { useMessages } from "../messages/use-messages.ts";
import { ApprovalCard, toSubjectName } from "./approval-card.tsx";
import { toServerQuestion } from "./server-form.tsx";
import { findOption, listCovered, listGroups, toSubjectText } from "./approval-kinds.ts";

interface ApprovalPanelProps {
  readonly approvals: readonly ApprovalRequestData[];
  readonly responseId: string;
  /** Resolves to true if the server accepted the answer. */
  readonly onDecide: (approvalId: string, answer: ApprovalAnswer) => Promise<boolean>;
}

type ChooseOption = (
  approval: ApprovalRequestData,
  ...chosen: Parameters<ComponentProps<typeof ApprovalCard>["onChoose"]>
) => void;

/** Calls that wait for a decision. Above the message field, so that they are always visible (X8, S-16). */
export function ApprovalPanel({ approvals, responseId, onDecide }: ApprovalPanelProps) {
  const messages = useMessages();
  const announce = useAnnounce();
  const panel = useRef<HTMLElement>(null);
  const [sent, setSent] = useState<ReadonlySet<string>>(new Set());
  const expired = useExpired(approvals, sent, responseId);
  const open = approvals.filter(({ approvalId, answeredIn }) => !answeredIn && !sent.has(approvalId));
  const isSettled = useSettled(approvals.map(({ approvalId }) => approvalId).join(" "));
  const newest = approvals.at(-1);
  useEffect(() => {
    if (newest !== undefined) announce(messages.approvalAsked({ title: toSubjectName(newest, messages) }));
  }, [newest?.approvalId]);

  const send = async (decided: readonly { readonly id: string; readonly answer: ApprovalAnswer }[]): Promise<void> => {
    setSent((before) => new Set([...before, ...decided.map(({ id }) => id)]));
    for (const [index, { id, answer }] of decided.entries()) {
      if (await onDecide(id, answer)) continue;
      // Stop here: the next request would remove the failure's message. The user can decide the rest again.
      const left = new Set(decided.slice(index).map((other) => other.id));
      setSent((before) => new Set([...before].filter((other) => !left.has(other))));
      return;
    }
  };
  /** Moves the focus to the next open card, never onto a button: a second Enter must decide nothing. */
  const moveFocus = (rest: readonly ApprovalRequestData[], from: ApprovalRequestData, event: UIEvent): void => {
    // A key pressed outside of the panel leaves the focus there.
    if (!panel.current?.contains(document.activeElement)) return;
    const next = rest.find((other) => approvals.indexOf(other) > approvals.indexOf(from)) ?? rest[0];
    const cards = [...(panel.current?.querySelectorAll<HTMLElement>("[data-approval]") ?? [])];
    if (next) cards.find(({ dataset }) => dataset["approval"] === next.approvalId)?.focus();
    // A finger's tap leaves the focus: otherwise the phone would open its keyboard.
    else if (event.detail === 0) focusComposer();
  };
  const choose: ChooseOption = (approval, option, { reason, values }, event) => {
    const others = open.filter((other) => other !== approval);
    const covered = listCovered(others, option);
    const message = option.kind.startsWith("reject") && reason !== "" ? { message: reason } : {};
    const edited = option.kind.startsWith("allow") && values ? { editedArguments: values } : {};
    const own = { id: approval.approvalId, answer: { optionId: option.id, ...message, ...edited } };
    moveFocus(
      others.filter((other) => !covered.includes(other)),
      approval,
      event,
    );
    void send([own, ...toAnswers(covered)]);
  };
  const decideAll = (group: readonly ApprovalRequestData[], kind: DecidedKind, event: MouseEvent): void => {
    moveFocus(
      open.filter((other) => !group.includes(other)),
      group.at(-1)!,
      event,
    );
    void send(toAnswers(group, kind));
  };
  const press = useRef<(event: KeyboardEvent) => void>(() => undefined);
  press.current = (event) => {
    const kind = toKeyKind(event);
    const focused = document.activeElement?.closest<HTMLElement>("[data-approval]")?.dataset["approval"];
    // If the focused card is decided already, a key must not decide another card.
    const approval = focused === undefined ? open[0] : open.find(({ approvalId }) => approvalId === focused);
    const option = kind && approval && findOption(approval, kind);
    if (!isSettled || !option || toServerQuestion(approval) || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    choose(approval, option, { reason: "", values: undefined }, event);
  };
  useEffect(() => listen(document, ["keydown"], (event: KeyboardEvent) => press.current(event)), []);
  const refusable = open.filter((approval) => !toServerQuestion(approval) && findOption(approval, "reject_once"));
  if (approvals.length === 0 && expired.list.length === 0) return undefined;
  return (
    <section class={isSettled ? "approvals" : "approvals unsettled"} aria-label={messages.approvals} ref={panel}>
      {expired.list.map((approval) => (
        <div class="approval-gone" key={approval.approvalId}>
          <Icon name="warning" />
          <p>
            {messages.approvalGone} <code>{toSubjectText(approval.subject).slice(0, 200)}</code>
          </p>
          <Button icon="close" label={messages.close} onClick={() => expired.remove(approval)} />
        </div>
      ))}
      {refusable.length > 1 ? (
        <div class="approvals-all">
          {listGroups(open).map(({ type, toolName, approvals: group }) => (
            <button
              type="button"
              class="quiet-button"
              // A group with other calls gets a new button, so that a key pressed at that moment allows no other call.
              key={group.map(({ approvalId }) => approvalId).join(" ")}
              onClick={(event) => decideAll(group, "allow_once", event)}
            >
              <VisibleText text={toAllLabel(type, messages)({ calls: group.length, tool: toolName })} />
            </button>
          ))}
          <Button
            kind="quiet"
            label={messages.refuseAll({ calls: refusable.length })}
            onClick={(event) => decideAll(refusable, "reject_once", event)}
          />
        </div>
      ) : undefined}
      {approvals.map((approval, index) => (
        <ApprovalCard
          key={approval.approvalId}
          approval={approval}
          responseId={responseId}
          name={toSubjectName(approval, messages) + (approvals.length > 1 ? ` (${index + 1}/${approvals.length})` : "")}
          isSent={sent.has(approval.approvalId)}
          onChoose={(option, answer, event) => choose(approval, option, answer, event)}
        />
      ))}
    </section>
  );
}

function toAllLabel(type: string, { allowCommands, allowChanges, allowCalls }: Messages): Messages["allowCalls"] {
  if (type === "command") return allowCommands;
  return type === "file_edit" ? allowChanges : allowCalls;
}

/** Milliseconds without change after which a click is meant for the visible approvals. */
const settlingTime = 500;

/** True if the approvals haven't changed for so long that a click can't be meant for earlier ones. */
function useSettled(shown: string): boolean {
  const [settled, setSettled] = useState<string>();
  useEffect(() => {
    const timer = setTimeout(() => setSettled(shown), settlingTime);
    return () => clearTimeout(timer);
  }, [shown]);
  return settled === shown;
}

type DecidedKind = "allow_once" | "reject_once";

/** Returns the decision for Alt+Y and Alt+N. On a Mac, Option changes the characters of the letters. */
function toKeyKind({ altKey, ctrlKey, metaKey, repeat, key, code }: KeyboardEvent): DecidedKind | undefined {
  if (!altKey || ctrlKey || metaKey || repeat) return undefined;
  const letter = /^[a-z]$/i.test(key) ? key.toLowerCase() : code.slice(-1).toLowerCase();
  if (letter === "y") return "allow_once";
  return letter === "n" ? "reject_once" : undefined;
}

function toAnswers(approvals: readonly ApprovalRequestData[], kind: DecidedKind = "allow_once") {
  return approvals.map((approval) => ({
    id: approval.approvalId,
    answer: { optionId: findOption(approval, kind)?.id ?? "" },
  }));
}

/** Milliseconds by which the clocks of page and server may differ. */
const clockTolerance = 3000;

/** Returns the approvals of this response that expired before the user decided. */
function useExpired(approvals: readonly ApprovalRequestData[], sent: ReadonlySet<string>, responseId: string) {
  const messages = useMessages();
  const announce = useAnnounce();
  const before = useRef({ approvals, responseId });
  const [list, setList] = useState<readonly ApprovalRequestData[]>([]);
  useEffect(() => {
    const known = before.current;
    before.current = { approvals, responseId };
    if (known.responseId !== responseId) return setList([]);
    const isOpen = ({ approvalId }: ApprovalRequestData): boolean =>
      approvals.some((approval) => approval.approvalId === approvalId);
    const gone = known.approvals.filter(
      (approval) =>
        !isOpen(approval) &&
        !sent.has(approval.approvalId) &&
        Date.parse(approval.expiresAt) <= Date.now() + clockTolerance,
    );
    if (gone.length === 0) return;
    setList((shown) => [...shown, ...gone]);
    announce(messages.approvalGone);
  }, [approvals, responseId]);
  return {
    list,
    remove: (approval: ApprovalRequestData) => setList((shown) => shown.filter((other) => other !== approval)),
  };
}
