/** The list of conversations: newest first, page by page, searched by the server. */
import type { SheafClient } from "@sheaf/client";
import { createStore, type ReadableStore } from "@sheaf/client/chat";
import type { ConversationChange, ConversationSummary } from "@sheaf/protocol";
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
  /** Renames or pins it; a failure is shown in the list. */
  readonly change: (id: string, change: Pick<ConversationChange, "title" | "pinned">) => Promise<void>;
  /** Shows why something that was done to a row failed. */
  readonly fail: (error: unknown) => void;
}

export interface ConversationListPorts {
  readonly client: SheafClient;
  readonly onSignedOut: () => void;
  readonly describe: (error: unknown) => string;
  /** A conversation was renamed or pinned. */
  readonly onChange: (id: string) => void;
}

const pageSize = 50;
/** The most that the server gives at once. */
const mostAtOnce = 200;
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

  const fail = (error: unknown): void => {
    if (isSignedOut(error)) return ports.onSignedOut();
    store.set({ ...store.getSnapshot(), phase: "failed", failure: ports.describe(error) });
  };

  const ask = async (before: string | undefined): Promise<void> => {
    request.abort();
    const current = new AbortController();
    request = current;
    const { search, conversations: known } = store.getSnapshot();
    try {
      const page = await ports.client.listConversations({
        limit: before === undefined ? Math.min(mostAtOnce, Math.max(pageSize, known.length)) : pageSize,
        pinned: "first",
        signal: current.signal,
        ...(before !== undefined && { before }),
        ...(search !== "" && { search }),
      });
      const conversations = before === undefined ? page.conversations : [...known, ...page.conversations];
      store.set({ ...store.getSnapshot(), phase: "ready", conversations, next: page.next, failure: undefined });
    } catch (error) {
      if (current.signal.aborted) return;
      fail(error);
    }
  };

  return {
    ...store,
    fail,
    refresh: () => ask(undefined),
    search(text) {
      store.set({ ...store.getSnapshot(), search: text });
      clearTimeout(timer);
      timer = setTimeout(() => void ask(undefined), searchDelay);
    },
    loadMore: () => ask(store.getSnapshot().next),
    async change(id, change) {
      try {
        await ports.client.changeConversation(id, change);
        ports.onChange(id);
      } catch (error) {
        return fail(error);
      }
      await ask(undefined);
    },
  };
}
