import { CodeText } from "../code/code-text.tsx";
import { Button } from "../elements/button.tsx";
import { Icon } from "../elements/icon.tsx";
import { useUnfolded } from "../elements/remembered.ts";
import { VisibleText } from "../elements/visible-text.tsx";
import type { Messages } from "../messages/messages.ts";
import { useMessages } from "../messages/use-messages.ts";
import { readFlag, readNumber, readObject, readText } from "../views/metadata.ts";
import type { ForeignMetadata } from "../views/view.ts";
import type { HookRowData } from "./arrange-rows.ts";

/** Length up to which a reason is unfolded, in UTF-16 units. */
const shortReason = 400;

/** A row about a hook: its decision, and the reason (N106). */
export function HookRow({ row: { key, report } }: { readonly row: HookRowData }) {
  const messages = useMessages();
  const [isUnfolded, setUnfolded] = useUnfolded(`${key}/unfolded`);
  const reason = readText(report, "reason");
  const given = readObject(report, "arguments");
  const canUnfold = given !== undefined || reason.length > shortReason;
  const shown = isUnfolded || reason.length <= shortReason ? reason : `${reason.slice(0, shortReason).toWellFormed()}…`;
  const exitCode = readNumber(report, "exitCode") ?? 0;
  return (
    <div class={`hook ${isRefusal(report) ? "hook-bad" : ""}`} role="note">
      <Icon name="hook" />
      <div class="hook-body">
        <p>
          <span class="hook-title">{messages.hookDid({ deeds: describeHook(report, messages) })}</span>{" "}
          <VisibleText as="code" text={readText(report, "event")} />
          {readText(report, "status") === "failed" && exitCode > 0 && exitCode !== timeoutCode ? (
            <span class="hook-fact"> {messages.exitCode({ code: exitCode })}</span>
          ) : undefined}
        </p>
        {shown === "" ? undefined : <VisibleText as="p" class="hook-reason" dir="auto" text={shown} />}
        {canUnfold ? (
          <Button
            kind="plain"
            label={given === undefined ? messages.details : messages.arguments}
            aria-expanded={isUnfolded}
            onClick={() => setUnfolded(!isUnfolded)}
          />
        ) : undefined}
        {isUnfolded && given !== undefined ? (
          <CodeText
            code={JSON.stringify(given, undefined, 2)}
            language="json"
            isOpen={false}
            label={messages.arguments}
            memoryKey={key}
          />
        ) : undefined}
      </div>
    </div>
  );
}

/** Exit code of a command that took too long (N37). */
const timeoutCode = 124;

function isRefusal(report: ForeignMetadata): boolean {
  const isBefore = ["PreToolUse", "UserPromptSubmit"].includes(readText(report, "event"));
  return readText(report, "decision") === "end" || (isBefore && readText(report, "decision") === "block");
}

function describeHook(report: ForeignMetadata, { hookDeeds }: Messages): string {
  const deeds = [
    ...(readText(report, "status") === "failed"
      ? [readNumber(report, "exitCode") === timeoutCode ? hookDeeds.timedOut : hookDeeds.failed]
      : []),
    ...toDecision(report, hookDeeds),
    ...(readObject(report, "arguments") ? [hookDeeds.changed] : []),
    ...(readFlag(report, "informed") ? [hookDeeds.informed] : []),
  ];
  return deeds.join(" · ");
}

function toDecision(report: ForeignMetadata, hookDeeds: Messages["hookDeeds"]): readonly string[] {
  const decision = readText(report, "decision");
  if (decision === "ask") return [hookDeeds.asked];
  if (decision === "end") return [hookDeeds.ended];
  if (decision !== "block") return [];
  const event = readText(report, "event");
  if (event === "PreToolUse") return [hookDeeds.refusedCall];
  if (event === "UserPromptSubmit") return [hookDeeds.refusedMessage];
  return [event === "Stop" ? hookDeeds.continued : hookDeeds.objected];
}
