import type { ConversationState } from "@sheaf/client/chat";
import { useEffect, useRef } from "preact/hooks";
import { useAnnounce } from "../elements/announcer.tsx";
import { useMessages } from "../messages/use-messages.ts";

/** Announces the start and the end of an answer to screen readers, and a restored connection. */
export function useAnswerNews({ turns, connection }: ConversationState): void {
  const messages = useMessages();
  const announce = useAnnounce();
  const response = turns.at(-1)?.response;
  const status = response?.status;
  const before = useRef<string | undefined>(undefined);
  const connectionBefore = useRef(connection);
  useEffect(() => {
    const wasStreaming = before.current === "streaming";
    before.current = status;
    if (status === "streaming" && !wasStreaming) announce(messages.answerStarted);
    if (!wasStreaming || response === undefined || status === "streaming") return;
    const { finishReason } = response.metadata;
    if (finishReason === "clarification") announce(messages.news.asks);
    else if (finishReason === "cancelled") announce(messages.answerStopped);
    else if (status === "error") announce(messages.news.failed);
    else announce(messages.answerEnded({ documents: response.documents.length }));
  }, [status]);
  useEffect(() => {
    if (connectionBefore.current === "waiting" && connection === "open") announce(messages.online);
    connectionBefore.current = connection;
  }, [connection]);
}
