import { Badge } from "../elements/card.tsx";
import { formatDuration } from "../elements/format.ts";
import { LineCard } from "../elements/line-card.tsx";
import { PlainText } from "../elements/plain-text.tsx";
import { useIsFound, useRemembered } from "../elements/remembered.ts";
import { VisibleText } from "../elements/visible-text.tsx";
import { Markdown } from "../markdown/markdown.tsx";
import { useLanguage, useMessages } from "../messages/use-messages.ts";
import { describeStep } from "../views/describe-step.ts";
import { DocumentView } from "../views/document-view.tsx";
import { readNumber, readObject, readText } from "../views/metadata.ts";
import { isFailed, isOpen, type ShownDocument } from "../views/view.ts";
import type { ArrangedRow, DocumentRowData } from "./arrange-rows.ts";
import { useConversation } from "./conversation-port.ts";
import { HookRow } from "./hook-row.tsx";

/** A subagent as one line that unfolds to its task, its actions and its report (N74, N107). */
export function SubagentRow({ row }: { readonly row: DocumentRowData }) {
  const messages = useMessages();
  const { waiting } = useConversation();
  const { key, document, parts = [] } = row;
  const [chosen, setUnfolded] = useRemembered<boolean | undefined>(`${key}/unfolded`, undefined);
  const isWaiting = waiting.has(key) || parts.some((part) => waiting.has(part.key));
  // A part that waits for a decision is always visible.
  const isFound = useIsFound(key);
  const isUnfolded = isFound || (chosen ?? isWaiting);
  const given = readObject(document.metadata, "arguments") ?? {};
  const last = parts.findLast((part) => part.kind === "document");
  return (
    <LineCard
      kind="subagent"
      icon="agent"
      title={
        <>
          <span class="unseen">{messages.subagent} </span>
          <VisibleText text={readText(given, "kind") || messages.subagent} />
        </>
      }
      detail={<VisibleText text={readText(given, "task").slice(0, 300).toWellFormed()} />}
      facts={<SubagentFacts document={document} parts={parts} isWaiting={isWaiting} />}
      isUnfolded={isUnfolded}
      onToggle={setUnfolded}
      now={
        isOpen(document) && last ? (
          <VisibleText as="p" class="subagent-now" text={describeStep(last.document, messages)} />
        ) : undefined
      }
    >
      <SubagentBody row={row} task={readText(given, "task")} />
    </LineCard>
  );
}

interface SubagentFactsProps {
  readonly document: ShownDocument;
  readonly parts: readonly ArrangedRow[];
  readonly isWaiting: boolean;
}

function SubagentFacts({ document, parts, isWaiting }: SubagentFactsProps) {
  const messages = useMessages();
  const language = useLanguage();
  const duration = readNumber(document.metadata, "duration_ms");
  const calls = parts.filter((part) => part.kind === "document" && part.document.type !== "error").length;
  return (
    <>
      {isWaiting ? <Badge tone="warning">{messages.rowStates.waiting}</Badge> : undefined}
      {isOpen(document) && !isWaiting ? <Badge tone="active">{messages.running}</Badge> : undefined}
      {isFailed(document) ? <Badge tone="bad">{messages.editStates.failed}</Badge> : undefined}
      {calls === 0 ? undefined : <span>{messages.calls({ calls })}</span>}
      {duration === undefined ? undefined : <span>{formatDuration(duration, language)}</span>}
    </>
  );
}

function SubagentBody({ row, task }: { readonly row: DocumentRowData; readonly task: string }) {
  const messages = useMessages();
  const { key, document, parts = [], isCurrent, responseId } = row;
  const report = toReport(document);
  return (
    <div class="subagent-body">
      <div role="group" aria-label={messages.task}>
        <h4>{messages.task}</h4>
        <PlainText class="plain-text subagent-task" text={task} />
      </div>
      {parts.length === 0 ? undefined : (
        <div role="group" aria-label={messages.stepsLabel}>
          <h4>{messages.stepsLabel}</h4>
          <ol class="subagent-steps">
            {parts.map((part) => (
              <li key={part.key}>
                {part.kind === "hook" ? (
                  <HookRow row={part} />
                ) : (
                  <DocumentView document={part.document} responseId={responseId} isCurrent={isCurrent} />
                )}
              </li>
            ))}
          </ol>
        </div>
      )}
      {report === "" ? undefined : (
        <div role="group" aria-label={messages.report}>
          <h4>{messages.report}</h4>
          <Markdown text={report} isComplete={!isOpen(document)} memoryKey={`${key}/report`} />
        </div>
      )}
      <Totals document={document} />
    </div>
  );
}

/** Returns the subagent's report; while it works, its text up to now (N75). */
function toReport({ metadata }: ShownDocument): string {
  const result = readObject(metadata, "result");
  if (result === undefined) return readText(metadata, "draftOutput").trim();
  const failure = readObject(result, "data");
  return failure === undefined ? readText(result, "data") : readText(failure, "message");
}

function Totals({ document }: { readonly document: ShownDocument }) {
  const messages = useMessages();
  const totals = readObject(document.metadata, "subagent");
  const usage = totals && readObject(totals, "usage");
  if (totals === undefined || usage === undefined) return undefined;
  const [prompt, completion] = [readNumber(usage, "promptTokens") ?? 0, readNumber(usage, "completionTokens") ?? 0];
  const model = readText(totals, "model");
  return (
    <p class="card-note">
      {model === "" ? undefined : (
        <>
          <VisibleText text={model} /> ·{" "}
        </>
      )}
      {messages.tokens({ prompt, completion })} · {messages.turns({ turns: readNumber(totals, "turnCount") ?? 0 })}
    </p>
  );
}
