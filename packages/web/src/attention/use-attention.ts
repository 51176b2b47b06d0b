import type { SheafClient } from "@sheaf/client";
import type { ChatsStore } from "@sheaf/client/chat";
import { useEffect, useRef, useState } from "preact/hooks";
import { findStorage } from "../app/find-storage.ts";
import { createTabChannel } from "../app/tab-channel.ts";
import { goToConversation } from "../app/use-route.ts";
import { toVisibleText } from "../elements/hidden-characters.ts";
import { listen } from "../elements/listen.ts";
import { useSetting } from "../elements/settings.tsx";
import { useMessages } from "../messages/use-messages.ts";
import { type AttentionStore, attentionStorageName, createAttentionStore } from "./attention-store.ts";
import type { News } from "./news.ts";
import { createNewsDesk, readDeskMessage } from "./news-desk.ts";
import { createNotifier, readNotificationPermission } from "./notifications.ts";

interface AttentionPorts {
  readonly client: SheafClient;
  readonly chats: ChatsStore;
  /** Id of the visible conversation. */
  readonly current: string | undefined;
}

/** Collects events for the user from the list and the visible conversation; notifies while the user looks elsewhere. */
export function useAttention({ client, chats, current }: AttentionPorts): AttentionStore {
  const messages = useMessages();
  const [isWanted] = useSetting("notifications");
  const [hasTitles] = useSetting("notificationTitles");
  const [notifier] = useState(createNotifier);
  const tell = ({ conversationId, kind }: News): void => {
    if (!isWanted || readNotificationPermission() !== "granted") return;
    const title = chats.getSnapshot().conversations.find(({ id }) => id === conversationId)?.title ?? "";
    const onClick = (): void => {
      focus();
      goToConversation(conversationId);
    };
    const text = messages.news[kind];
    notifier.show({
      conversationId,
      ...(hasTitles && title !== "" ? { title: toVisibleText(title), text } : { title: "Sheaf", text }),
      onClick,
    });
  };
  const latest = useRef({ current, tell });
  latest.current = { current, tell };
  const [{ attention, close }] = useState(() => openAttention(client, latest));
  useEffect(() => close, [close]);
  useEffect(() => {
    const observe = (): void => attention.observe(chats.getSnapshot().conversations);
    observe();
    return chats.subscribe(observe);
  }, [attention, chats]);
  useEffect(
    () => attention.subscribe(() => notifier.keepOnly((id) => attention.getSnapshot().news.has(id))),
    [attention],
  );
  useReturn(() => {
    if (current !== undefined) attention.see(current);
  });
  useEffect(() => {
    if (current !== undefined && isWatched()) attention.see(current);
  }, [attention, current]);
  return attention;
}

/** True if the user looks at this tab. A window behind the editor is out of sight. */
function isWatched(): boolean {
  return !document.hidden && document.hasFocus();
}

interface Latest {
  readonly current: { readonly current: string | undefined; readonly tell: (news: News) => void };
}

function openAttention(
  client: SheafClient,
  latest: Latest,
): { readonly attention: AttentionStore; readonly close: () => void } {
  const desk = createNewsDesk({
    channel: createTabChannel("sheaf-news", readDeskMessage),
    tabId: crypto.randomUUID(),
    isShown: (id) => id === latest.current.current,
    isWatched,
    tell: (news) => latest.current.tell(news),
    onSeen: ({ conversationId }) => attention.see(conversationId),
    wait: (milliseconds, then) => void setTimeout(then, milliseconds),
  });
  const attention = createAttentionStore({
    storage: findStorage(),
    readResponse: (id) => client.getResponse(id),
    report: desk.report,
  });
  const stop = listen(window, ["storage"], ({ key }: StorageEvent) => {
    if (key === attentionStorageName) attention.reload();
  });
  return {
    attention,
    close: () => {
      desk.close();
      stop();
    },
  };
}

/** Calls `onReturn` whenever the user returns to this tab. */
function useReturn(onReturn: () => void): void {
  const latest = useRef(onReturn);
  latest.current = onReturn;
  useEffect(() => {
    const look = (): void => {
      if (isWatched()) latest.current();
    };
    // Both events reach the window: the second one rises from the document.
    return listen(window, ["focus", "visibilitychange"], look);
  }, []);
}
