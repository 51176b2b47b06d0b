/** The list of conversations, from the events of the server or from a search. */
import type { SheafClient } from "@sheaf/client";
import { type ChatsStore, createStore, type ReadableStore } from "@sheaf/client/chat";
import type { ConversationChange, ConversationSummary } from "@sheaf/protocol";
import { isSignedOut } from "../session/session.ts";

interface ConversationListState {
  readonly phase: "loading" | "ready" | "failed";
  readonly search: string;
  readonly conversations: readonly ConversationSummary[];
  readonly hasMore: boolean;
  readonly failure: string | undefined;
}

export interface ConversationListStore extends ReadableStore<ConversationListState> {
  /** Follows the events. Returns a function that ends this. */
  readonly follow: () => () => void;
  /** Tries again after a failure. */
  readonly refresh: () => void;
  readonly search: (text: string) => void;
  readonly loadMore: () => Promise<void>;
  /** Renames or pins a conversation; the list shows a failure. */
  readonly change: (id: string, change: Pick<ConversationChange, "title" | "pinned">) => Promise<void>;
  /** Shows the failure of a row's action. */
  readonly fail: (error: unknown) => void;
}

export interface ConversationListPorts {
  readonly client: SheafClient;
  readonly chats: ChatsStore;
  readonly onSignedOut: () => void;
  readonly describe: (error: unknown) => string;
}

/** Milliseconds without typing before a search starts. */
const searchDelay = 200;

export function createConversationListStore(ports: ConversationListPorts): ConversationListStore {
  const { client, chats } = ports;
  const store = createStore<ConversationListState>({
    phase: "loading",
    search: "",
    conversations: [],
    hasMore: false,
    failure: undefined,
  });
  let request = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Cursor of a search's next page. */
  let next: string | undefined;

  const fail = (error: unknown): void => {
    if (isSignedOut(error)) return ports.onSignedOut();
    store.set({ ...store.getSnapshot(), phase: "failed", failure: ports.describe(error) });
  };

  const find = async (before: string | undefined): Promise<void> => {
    request.abort();
    const { signal } = (request = new AbortController());
    const { search, conversations: known } = store.getSnapshot();
    try {
      const page = await client.listConversations({ pinned: "first", search, before, signal });
      ({ next } = page);
      const conversations = before === undefined ? page.conversations : [...known, ...page.conversations];
      const state = { search, conversations, hasMore: next !== undefined };
      store.set({ ...state, phase: "ready", failure: undefined });
    } catch (error) {
      if (!signal.aborted) fail(error);
    }
  };

  const show = (): void => {
    const { search } = store.getSnapshot();
    const { status, conversations, hasMore, error } = chats.getSnapshot();
    if (isSignedOut(error)) return ports.onSignedOut();
    if (search !== "") return;
    if (error !== undefined && status !== "ready") return fail(error);
    store.set({ phase: status, search, conversations, hasMore, failure: undefined });
  };

  const ask = (): void => {
    if (store.getSnapshot().search !== "") return void find(undefined);
    request.abort();
    show();
  };

  return {
    ...store,
    fail,
    follow() {
      const stop = chats.subscribe(show);
      chats.open();
      return () => {
        stop();
        chats.close();
      };
    },
    refresh() {
      chats.reconnect();
      ask();
    },
    search(text) {
      store.set({ ...store.getSnapshot(), search: text });
      clearTimeout(timer);
      timer = setTimeout(ask, searchDelay);
    },
    async loadMore() {
      if (store.getSnapshot().search !== "") return find(next);
      await chats.loadMore().catch(fail);
    },
    async change(id, change) {
      await client.changeConversation(id, change).then(ask, fail);
    },
  };
}
