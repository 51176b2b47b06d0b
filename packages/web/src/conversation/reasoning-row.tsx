import type { Reasoning } from "@sheaf/client/chat";
import { formatDuration } from "../elements/format.ts";
import { LineCard } from "../elements/line-card.tsx";
import { useRemembered, useUnfolded } from "../elements/remembered.ts";
import { useFollowedEnd } from "../elements/use-followed-end.ts";
import { VisibleText } from "../elements/visible-text.tsx";
import type { Messages } from "../messages/messages.ts";
import { useLanguage, useMessages } from "../messages/use-messages.ts";
import { useConversationActions } from "./message-row.tsx";
import type { ReasoningRowData } from "./rows.ts";

/** One line that unfolds to the model's reasoning (N14). */
export function ReasoningRow({ row }: { readonly row: ReasoningRowData }) {
  const { key, responseId, reasoning } = row;
  const messages = useMessages();
  const language = useLanguage();
  const { loadReasoning } = useConversationActions();
  const [isUnfolded, setUnfolded] = useUnfolded(`${key}/unfolded`);
  const [state, setState] = useRemembered<"unasked" | "loading" | "failed" | "loaded">(`${key}/state`, "unasked");
  const load = async (): Promise<void> => {
    setState("loading");
    setState((await loadReasoning(responseId)) ? "loaded" : "failed");
  };
  const toggle = (): void => {
    setUnfolded(!isUnfolded);
    const isWanted = row.isPartial && (state === "unasked" || state === "failed");
    if (!isUnfolded && isWanted) void load();
  };
  return (
    <LineCard detail={toTitle(reasoning, messages, language)} isUnfolded={isUnfolded} onToggle={toggle}>
      {state === "failed" ? <p class="card-note">{messages.reasoningFailed}</p> : undefined}
      {reasoning?.isCut === true && !row.isPartial ? <p class="card-note">{messages.reasoningCut}</p> : undefined}
      {reasoning === undefined && state === "loading" ? <p class="card-note">{messages.loading}</p> : undefined}
      {reasoning === undefined ? undefined : <ReasoningText reasoning={reasoning} />}
    </LineCard>
  );
}

function toTitle(reasoning: Reasoning | undefined, messages: Messages, language: string): string {
  if (reasoning?.isOpen === true) return messages.thinkingNow;
  if (reasoning?.durationMs === undefined) return messages.reasoning;
  return messages.thoughtFor({ duration: formatDuration(reasoning.durationMs, language) });
}

/** A box with its own scroll bar, so that growing text moves no other row. At its end, it follows the text. */
function ReasoningText({ reasoning: { text } }: { readonly reasoning: Reasoning }) {
  const messages = useMessages();
  const followed = useFollowedEnd<HTMLDivElement>(true, text.length);
  return (
    <div class="reasoning-text" role="group" aria-label={messages.reasoning} tabIndex={0} {...followed}>
      <VisibleText as="p" dir="auto" text={text} />
    </div>
  );
}
