import type { OutgoingMessage } from "@sheaf/client/chat";
import { Button } from "../elements/button.tsx";
import { VisibleText } from "../elements/visible-text.tsx";
import { useMessages } from "../messages/use-messages.ts";

interface QueuedMessageProps {
  readonly queued: OutgoingMessage | undefined;
  readonly onRemove: () => void;
}

/** What is sent once the answer has ended its turn. */
export function QueuedMessage({ queued, onRemove }: QueuedMessageProps) {
  const messages = useMessages();
  if (!queued) return undefined;
  return (
    <div class="queued" role="status">
      <span class="queued-label">{messages.queued}</span>
      <VisibleText
        as="span"
        class="queued-text"
        text={queued.message || queued.attachments?.map(({ name }) => name).join(", ") || ""}
      />
      <Button icon="close" label={messages.queuedRemove} onClick={onRemove} />
    </div>
  );
}
