/** Follows a conversation in an open list: other tabs, devices and programs change it there. */
import type { ConversationOptions, ConversationStore } from "./conversation-store.ts";

interface WatchedStore extends Pick<ConversationStore, "getSnapshot" | "load"> {
  readonly setTitle: (title: string) => void;
}

export interface ListWatch {
  /** Loads the conversation again if the list has another last response. */
  readonly compare: () => void;
  readonly stop: () => void;
}

export function watchList(chats: NonNullable<ConversationOptions["chats"]>, store: WatchedStore): ListWatch {
  let isListed = false;
  /** The entry of the list at the last load. Each entry causes one load, even if the list is behind. */
  let loadedFor: unknown;
  const compare = (): void => {
    const { id, title, turns, isAnswering, status } = store.getSnapshot();
    const listed = chats.getSnapshot().conversations.find((conversation) => conversation.id === id);
    const wasListed = isListed;
    isListed = listed !== undefined;
    if (status !== "ready") return;
    if (listed === undefined) return void (wasListed && !isAnswering && store.load());
    if (listed.title !== title) store.setTitle(listed.title);
    if (isAnswering || listed.lastResponseId === turns.at(-1)?.response.id || listed === loadedFor) return;
    loadedFor = listed;
    void store.load();
  };
  return { compare, stop: chats.subscribe(compare) };
}
