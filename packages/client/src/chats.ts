/** A user's conversations for a user interface: the list, with everything that runs, waits or is unread (C230). */
import type { ConversationSummary } from "@sheaf/protocol";
import type { SheafClient } from "./client.ts";
import { toError } from "./errors.ts";
import { readTogether } from "./share-tabs.ts";
import { createStore, type ReadableStore } from "./store.ts";
import type { NumberedUserEvent, UserEventOptions } from "./user-events.ts";

export interface ChatsState {
  /** State of the list. After `failed`, the server's refusal is in `error`. */
  readonly status: "loading" | "ready" | "failed";
  /** Pinned conversations, then the newest ones, with their present `runningResponseId` and `approvals`. */
  readonly conversations: readonly ConversationSummary[];
  /** True if `loadMore` can load older conversations. */
  readonly hasMore: boolean;
  /** Ids of conversations with an approval or a question for the person. */
  readonly waiting: ReadonlySet<string>;
  /** Ids of conversations with a new answer. */
  readonly unread: ReadonlySet<string>;
  /** The reason for the last break of the stream, until its next event. */
  readonly error: Error | undefined;
}

export interface ChatsOptions {
  /** Name that tabs with a shared stream have in common, such as the user's id. Default: no sharing. */
  readonly share?: string | undefined;
  /** Receives each event after it changed the state. */
  readonly onEvent?: ((event: NumberedUserEvent) => void) | undefined;
}

export interface ChatsStore extends ReadableStore<ChatsState> {
  /** Follows the events until `close`, also over broken connections. */
  readonly open: () => void;
  readonly close: () => void;
  /** Connects again at once, for instance because the network is back. */
  readonly reconnect: () => void;
  /** Sets the conversation on the screen, which marks its answers as read. */
  readonly show: (conversationId: string | undefined) => void;
  readonly loadMore: () => Promise<void>;
}

/** Creates a list that sends no request before `open`, so it works anywhere. The functions need no `this`. */
export function createChats(client: SheafClient, { share, onEvent }: ChatsOptions = {}): ChatsStore {
  const store = createStore<ChatsState>({
    status: "loading",
    conversations: [],
    hasMore: false,
    waiting: new Set(),
    unread: new Set(),
    error: undefined,
  });
  let following = new AbortController();
  let last: string | undefined;
  let next: string | undefined;
  let shown: string | undefined;
  /** Response that asks a question, by conversation. */
  const asking = new Map<string, string | undefined>();

  const change = (conversations: readonly ConversationSummary[], unread: ReadonlySet<string>): void => {
    const isWaiting = ({ id, approvals, lastResponseId }: ConversationSummary): boolean =>
      approvals !== undefined || (asking.has(id) && asking.get(id) === lastResponseId);
    store.set({
      status: "ready",
      conversations,
      hasMore: next !== undefined,
      waiting: new Set(conversations.filter(isWaiting).map(({ id }) => id)),
      unread,
      error: undefined,
    });
  };

  const take = (event: NumberedUserEvent): void => {
    const { conversations, unread, status } = store.getSnapshot();
    // The first snapshot will include this event.
    if (status === "loading" && event.event !== "snapshot") return;
    last = event.id;
    if (event.event === "snapshot") {
      ({ next } = event.data);
      const before = new Map(conversations.map((conversation) => [conversation.id, conversation]));
      const hasNew = ({ id, lastResponseId, runningResponseId }: ConversationSummary): boolean =>
        before.has(id) && runningResponseId === undefined && before.get(id)?.lastResponseId !== lastResponseId;
      const missed = event.data.conversations.filter(hasNew).map(({ id }) => id);
      change(event.data.conversations, withoutShown([...unread, ...missed], shown));
    } else if (event.event === "conversation") {
      const { conversation, ended, changes } = event.data;
      const { id } = conversation;
      const others = conversations.filter((other) => other.id !== id);
      if (changes.includes("question_waiting")) asking.set(id, ended?.responseId);
      const isNew = ended !== undefined && ended.finishReason !== "cancelled";
      change(insert(others, conversation), isNew ? withoutShown([...unread, id], shown) : unread);
    } else {
      const isKept = (id: string): boolean => id !== event.data.conversationId;
      change(
        conversations.filter(({ id }) => isKept(id)),
        new Set([...unread].filter(isKept)),
      );
    }
    onEvent?.(event);
  };

  const follow = async (signal: AbortSignal): Promise<void> => {
    try {
      await readTogether<NumberedUserEvent>(
        share,
        {
          async read(pass, reading) {
            const onConnection: UserEventOptions["onConnection"] = (_, reason) => {
              if (reason instanceof Error) store.set({ ...store.getSnapshot(), error: reason });
            };
            const options = { after: last, signal: reading, onConnection };
            for await (const event of client.readUserEvents(options)) pass(event);
          },
          onEvent: take,
          toFirst() {
            const { conversations, status } = store.getSnapshot();
            if (status !== "ready" || last === undefined) return undefined;
            return { id: last, event: "snapshot", data: { conversations, ...(next !== undefined && { next }) } };
          },
        },
        signal,
      );
    } catch (cause) {
      if (!signal.aborted) store.set({ ...store.getSnapshot(), status: "failed", error: toError(cause) });
    }
  };

  const close = (): void => following.abort();
  const open = (): void => {
    close();
    following = new AbortController();
    void follow(following.signal);
  };
  return {
    ...store,
    open,
    close,
    reconnect: open,
    show(id) {
      shown = id;
      const { unread } = store.getSnapshot();
      if (id !== undefined && unread.has(id)) {
        store.set({ ...store.getSnapshot(), unread: withoutShown([...unread], id) });
      }
    },
    async loadMore() {
      const before = next;
      if (before === undefined) return;
      const page = await client.listConversations({ before, pinned: "first", limit: 50 });
      if (before !== next) return;
      ({ next } = page);
      const { conversations, unread } = store.getSnapshot();
      const known = new Set(conversations.map(({ id }) => id));
      change([...conversations, ...page.conversations.filter(({ id }) => !known.has(id))], unread);
    },
  };
}

function withoutShown(ids: readonly string[], shown: string | undefined): ReadonlySet<string> {
  return new Set(ids.filter((id) => id !== shown));
}

/** Puts a conversation at its place in the list. */
function insert(others: readonly ConversationSummary[], added: ConversationSummary): readonly ConversationSummary[] {
  const rank = ({ pinned, updated }: ConversationSummary): string => `${pinned ? 1 : 0} ${updated}`;
  const index = others.findIndex((other) => rank(other) <= rank(added));
  return index < 0 ? [...others, added] : others.toSpliced(index, 0, added);
}
