import { useEffect, useRef, useState } from "preact/hooks";
import { type ConversationState, isStreaming } from "../conversation/conversation-state.ts";
import { Icon } from "../elements/icon.tsx";
import { VisibleText } from "../elements/visible-text.tsx";
import { useMessages } from "../messages/use-messages.ts";
import type { Draft } from "./draft.ts";

/**
 * A message that waits for the end of the answer. `isWelcome`: the answer was completed; otherwise it failed, was stopped
 * or asks something, and the message goes back to its writer.
 */
export function useQueuedDraft(state: ConversationState, onEnd: (draft: Draft, isWelcome: boolean) => void) {
  const [queued, setQueued] = useState<Draft>();
  const latest = useRef(onEnd);
  latest.current = onEnd;
  const isBusy = isStreaming(state);
  const response = state.turns.at(-1)?.response;
  useEffect(() => {
    if (isBusy || !queued) return;
    setQueued(undefined);
    latest.current(queued, response?.metadata.finishReason === "end_turn");
  }, [isBusy, queued]);
  return [queued, setQueued] as const;
}

interface QueuedMessageProps {
  readonly draft: Draft | undefined;
  readonly onRemove: () => void;
}

export function QueuedMessage({ draft, onRemove }: QueuedMessageProps) {
  const messages = useMessages();
  if (!draft) return undefined;
  return (
    <div class="queued" role="status">
      <span class="queued-label">{messages.queued}</span>
      <span class="queued-text">
        <VisibleText text={draft.text.trim() || draft.files.map(({ name }) => name).join(", ")} />
      </span>
      <button type="button" class="tool-button" aria-label={messages.queuedRemove} onClick={onRemove}>
        <Icon name="close" />
      </button>
    </div>
  );
}
