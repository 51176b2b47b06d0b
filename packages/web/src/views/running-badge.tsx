import { useConversation } from "../conversation/conversation-port.ts";
import { toDocumentKey } from "../conversation/rows.ts";
import { Badge } from "../elements/card.tsx";
import { useMessages } from "../messages/use-messages.ts";
import type { ViewProps } from "./view.ts";

interface RunningBadgeProps extends Pick<ViewProps, "document" | "responseId"> {
  readonly label?: string;
}

/** State of an open tool document: running, or waiting for the user. */
export function RunningBadge({ document, responseId, label }: RunningBadgeProps) {
  const messages = useMessages();
  const { waiting } = useConversation();
  if (waiting.has(toDocumentKey(responseId, document.id)))
    return <Badge tone="warning">{messages.rowStates.waiting}</Badge>;
  return <Badge tone="active">{label ?? messages.running}</Badge>;
}
