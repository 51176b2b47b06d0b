/** The list of conversations: newest first, page by page, searched by the server. */
import type { SheafClient } from "@sheaf/client";
import type { ReadableStore } from "@sheaf/client/chat";
import type { ConversationSummary } from "@sheaf/protocol";
import { createStore } from "../elements/store.ts";
import { isSignedOut } from "../session/session.ts";

interface ConversationListState {
  readonly phase: "loading" | "ready" | "failed";
  readonly search: string;
  readonly conversations: readonly ConversationSummary[];
  /** Where the next page begins; undefined if there is no next page. */
  readonly next: string | undefined;
  readonly failure: string | undefined;
}

export interface ConversationListStore extends ReadableStore<ConversationListState> {
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
    const { search } = store.getSnapshot();
    try {
      const page = await ports.client.listConversations({
        limit: pageSize,
        signal: current.signal,
        ...(before !== undefined && { before }),
        ...(search !== "" && { search }),
      });
      const known = before === undefined ? [] : store.getSnapshot().conversations;
      const conversations = [...known, ...page.conversations];
      store.set({ ...store.getSnapshot(), phase: "ready", conversations, next: page.next, failure: undefined });
    } catch (error) {
      if (current.signal.aborted) return;
      if (isSignedOut(error)) return ports.onSignedOut();
      store.set({ ...store.getSnapshot(), phase: "failed", failure: ports.describe(error) });
    }
  };

  return {
    ...store,
    refresh: () => ask(undefined),
    search(text) {
      store.set({ ...store.getSnapshot(), search: text });
      clearTimeout(timer);
      timer = setTimeout(() => void ask(undefined), searchDelay);
    },
    loadMore: () => ask(store.getSnapshot().next),
  };
}
