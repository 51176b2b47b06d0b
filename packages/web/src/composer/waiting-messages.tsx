import type { WaitingMessage } from "@sheaf/client";
import type { ConversationStore } from "@sheaf/client/chat";
import { Button } from "../elements/button.tsx";
import { useMessages } from "../messages/use-messages.ts";
import { MessageBar } from "./message-bar.tsx";

interface WaitingMessagesProps extends Pick<ConversationStore, "arrange" | "unqueue"> {
  readonly waiting: readonly WaitingMessage[];
  /** Removes a waiting message, and puts its text into the field. */
  readonly onEdit: (text: string) => void;
}

/** The messages that wait at the server, in the order in which they start (C241). */
export function WaitingMessages({ waiting, arrange, unqueue, onEdit }: WaitingMessagesProps) {
  const messages = useMessages();
  const moveUp = (index: number): void => {
    const order = waiting.map(({ responseId }) => ({ responseId }));
    order.splice(index - 1, 0, ...order.splice(index, 1));
    void arrange(order);
  };
  return waiting.map(({ responseId, message, attachments = [], whenBusy }, index) => {
    const steers = whenBusy === "steer";
    const text = message || attachments.map(({ name }) => name).join(", ");
    return (
      <MessageBar key={responseId} label={steers ? messages.queuedNow : messages.queued} text={text}>
        {steers ? undefined : (
          <Button
            kind="quiet"
            label={messages.sendNow}
            onClick={() => void arrange([{ responseId, whenBusy: "steer" }])}
          />
        )}
        {steers || index === 0 || waiting[index - 1]!.whenBusy === "steer" ? undefined : (
          <Button icon="send" label={messages.queuedUp} onClick={() => moveUp(index)} />
        )}
        {attachments.length > 0 ? undefined : (
          <Button
            icon="fileEdit"
            label={messages.queuedEdit}
            onClick={() => void unqueue(responseId).then((isRemoved) => isRemoved && onEdit(message))}
          />
        )}
        <Button icon="close" label={messages.queuedRemove} onClick={() => void unqueue(responseId)} />
      </MessageBar>
    );
  });
}
