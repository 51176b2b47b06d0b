import type { Turn } from "@sheaf/client/chat";
import type { ConversationSummary } from "@sheaf/protocol";
import { useId } from "preact/hooks";
import { formatCost, formatDuration, formatNumber } from "../elements/format.ts";
import type { Messages } from "../messages/messages.ts";
import { useLanguage, useMessages } from "../messages/use-messages.ts";
import { toUsageSum } from "./conversation-usage.ts";

interface UsagePopoverProps {
  readonly turns: readonly Turn[];
  readonly listed: ConversationSummary["usage"];
  /** Context window of the next message's model, in tokens; undefined if unknown. */
  readonly windowTokens: number | undefined;
}

/** A button that opens the conversation's usage. The browser closes the popover. */
export function UsagePopover({ turns, listed, windowTokens }: UsagePopoverProps) {
  const messages = useMessages();
  const language = useLanguage();
  const id = useId();
  const { promptTokens, completionTokens, costUsd, contextTokens, turnCount, duration } = toUsageSum(turns, listed);
  if (promptTokens + completionTokens === 0) return undefined;
  const facts = [
    [messages.tokensLabel, messages.tokens({ prompt: promptTokens, completion: completionTokens })],
    ...(costUsd === undefined ? [] : [[messages.cost, formatCost(costUsd, language)]]),
    ...(contextTokens === undefined
      ? []
      : [[messages.context, formatContext(contextTokens, windowTokens, { messages, language })]]),
    [messages.messageCount, formatNumber(turns.length, language)],
    [messages.stepsLabel, formatNumber(turnCount, language)],
    [messages.duration, formatDuration(duration, language)],
  ] as const;
  const total =
    costUsd === undefined
      ? messages.tokenCount({ tokens: formatShort(promptTokens + completionTokens, language) })
      : formatCost(costUsd, language);
  return (
    <>
      <button
        type="button"
        class="tool-button text-button usage-button"
        popovertarget={id}
        aria-label={`${messages.usage}: ${total}`}
        title={messages.usage}
      >
        {total}
      </button>
      <dl class="usage" id={id} popover="auto">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

/** Formats the size of the context: `12K tokens`, or `12K of 150K tokens (8%)`. */
function formatContext(
  used: number,
  windowTokens: number | undefined,
  { messages, language }: { readonly messages: Messages; readonly language: string },
): string {
  const short = formatShort(used, language);
  if (windowTokens === undefined) return messages.tokenCount({ tokens: short });
  const share = new Intl.NumberFormat(language, { style: "percent" }).format(used / windowTokens);
  return messages.contextShare({ used: short, window: formatShort(windowTokens, language), share });
}

/** Formats a number briefly: `12K`. */
function formatShort(value: number, language: string): string {
  return new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1 }).format(value);
}
