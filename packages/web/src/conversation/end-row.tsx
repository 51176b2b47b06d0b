import type { ChatResponse } from "@sheaf/protocol";
import { Button } from "../elements/button.tsx";
import { formatCost, formatDuration } from "../elements/format.ts";
import { CopyButton } from "../elements/copy-button.tsx";
import { useNow } from "../elements/use-now.ts";
import { toAnswerText } from "./answer-text.ts";
import { useConversationActions } from "./message-row.tsx";
import type { TotalsRowData, WorkingRowData } from "./rows.ts";
import { useLanguage, useMessages } from "../messages/use-messages.ts";
import { readCost } from "./conversation-usage.ts";

/** The row after the documents of an answer that still runs. */
export function WorkingRow({ row }: { readonly row: WorkingRowData }) {
  const messages = useMessages();
  const language = useLanguage();
  const start = Date.parse(row.created);
  const now = useNow();
  const seconds = Number.isNaN(start) ? 0 : Math.floor((now - start) / 1000);
  const { isWaiting } = row;
  return (
    <div class="working">
      <span class={isWaiting ? "pulse paused" : "pulse"} aria-hidden="true" />
      <span>{isWaiting ? messages.approvals : messages.working}</span>
      {seconds >= 3 ? <span class="working-time">{formatDuration(seconds * 1000, language)}</span> : undefined}
    </div>
  );
}

/** The row after the documents of an answer: its usage, time and actions. */
export function TotalsRow({ row }: { readonly row: TotalsRowData }) {
  return (
    <div class="end">
      <Totals response={row.response} />
      <AnswerActions row={row} />
    </div>
  );
}

function AnswerActions({ row: { message, response, isCurrent } }: { readonly row: TotalsRowData }) {
  const messages = useMessages();
  const actions = useConversationActions();
  const text = toAnswerText(response.documents);
  return (
    <div class="answer-actions">
      {text === "" ? undefined : <CopyButton text={text} label={messages.copyAnswer} />}
      {isCurrent && message !== "" && response.id !== "" ? (
        <Button icon="retry" label={messages.tryAgain} onClick={() => actions.retry(response.id)} />
      ) : undefined}
    </div>
  );
}

function Totals({ response }: { readonly response: ChatResponse }) {
  const messages = useMessages();
  const language = useLanguage();
  const { usage, metadata, model } = response;
  const cost = readCost(response);
  return (
    <dl class="totals">
      <Fact name={messages.model} value={model} />
      <Fact
        name={messages.tokensLabel}
        value={messages.tokens({ prompt: usage.promptTokens, completion: usage.completionTokens })}
        note={usage.estimated === true ? messages.estimated : undefined}
      />
      {cost === undefined ? undefined : <Fact name={messages.cost} value={formatCost(cost, language)} />}
      <Fact name={messages.stepsLabel} value={messages.turns({ turns: metadata.turnCount })} />
      {(metadata.notices ?? []).map(({ message }) => (
        <Fact key={message} name={messages.notice} value={message} />
      ))}
      <Fact name={messages.duration} value={formatDuration(metadata.duration_ms, language)} />
    </dl>
  );
}

interface FactProps {
  readonly name: string;
  readonly value: string;
  readonly note?: string | undefined;
}

function Fact({ name, value, note }: FactProps) {
  return (
    <div class="fact">
      <dt class="unseen">{name}</dt>
      <dd>
        {value}
        {note === undefined ? undefined : <span class="fact-note"> ({note})</span>}
      </dd>
    </div>
  );
}
