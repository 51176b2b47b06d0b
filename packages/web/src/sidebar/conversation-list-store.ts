/** The list of conversations: newest first, page by page, searched by the server. */
import { SheafApiError, type SheafClient } from "@sheaf/client";
import type { ConversationSummary } from "@sheaf/protocol";
import { createStore, type Store } from "../elements/store.ts";

interface ConversationListState {
  readonly phase: "loading" | "ready" | "failed";
  readonly search: string;
  readonly conversations: readonly ConversationSummary[];
  /** Where the next page begins; undefined if there is no next page. */
  readonly next: string | undefined;
  readonly failure: string | undefined;
}

export interface ConversationListStore extends Store<ConversationListState> {
  readonly refresh: () => Promise<void>;
  readonly search: (text: string) => void;
  readonly loadMore: () => Promise<void>;
}

export interface ConversationListPorts {
  readonly client: SheafClient;
  readonly onSignedOut: () => void;
  readonly describe: (error: unknown) => string;
}

const pageSize = 50;
/** Milliseconds without typing after which a search is sent. */
const searchDelay = 200;

export function createConversationListStore(ports: ConversationListPorts): ConversationListStore {
  const store = createStore<ConversationListState>({
    phase: "loading",
    search: "",
    conversations: [],
    next: undefined,
    failure: undefined,
  });
  let request = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;

  const ask = async (before: string | undefined): Promise<void> => {
    request.abort();
    const current = new AbortController();
    request = current;
    const { search } = store.get();
    try {
      const page = await ports.client.listConversations({
        limit: pageSize,
        signal: current.signal,
        ...(before !== undefined && { before }),
        ...(search !== "" && { search }),
      });
      const known = before === undefined ? [] : store.get().conversations;
      const conversations = [...known, ...page.conversations];
      store.set({ ...store.get(), phase: "ready", conversations, next: page.next, failure: undefined });
    } catch (error) {
      if (current.signal.aborted) return;
      if (error instanceof SheafApiError && error.status === 401) return ports.onSignedOut();
      store.set({ ...store.get(), phase: "failed", failure: ports.describe(error) });
    }
  };

  return {
    ...store,
    refresh: () => ask(undefined),
    search(text) {
      store.set({ ...store.get(), search: text });
      clearTimeout(timer);
      timer = setTimeout(() => void ask(undefined), searchDelay);
    },
    loadMore: () => ask(store.get().next),
  };
}
