/** Hooks for React from 18 on. For Preact, let the bundler resolve "react" to "preact/compat". */
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { createChats, type ChatsOptions, type ChatsState, type ChatsStore } from "./chats.ts";
import type { SheafClient } from "./client.ts";
import { createConversation } from "./conversation.ts";
import type { ConversationOptions, ConversationStore } from "./conversation-store.ts";
import type { ConversationState } from "./conversation-state.ts";
import type { ReadableStore } from "./store.ts";

type ConversationActions = Omit<ConversationStore, "subscribe" | "getSnapshot">;

/** The state of a conversation, and its actions. The functions stay the same from state to state. */
export interface UsedConversation extends ConversationState, ConversationActions {}

interface OpenedConversation {
  readonly client: SheafClient;
  /** Id in the component's options; undefined for a new conversation. */
  readonly id: string | undefined;
  readonly store: ReadableStore<ConversationState>;
  readonly actions: ConversationActions;
}

/**
 * Loads and follows one conversation while the component is mounted. If `id` changes, the component shows the other
 * conversation, except if `id` becomes the id of the conversation that it started. `settings` matter only when the
 * conversation is opened. To start another new conversation, give the component another `key`.
 */
export function useConversation(client: SheafClient, options: ConversationOptions = {}): UsedConversation {
  const latest = useRef(options);
  const [opened, setOpened] = useState(() => open(client, options, latest));
  let current = opened;
  if (current.client !== client || current.id !== options.id) {
    const isSame = current.client === client && current.store.getSnapshot().id === options.id;
    current = isSame ? { ...current, id: options.id } : open(client, options, latest);
    setOpened(current);
  }
  const { store, actions } = current;
  useEffect(() => {
    latest.current = options;
  });
  useEffect(() => {
    void actions.load();
    return actions.close;
  }, [actions]);
  const state = useStore(store);
  return useMemo(() => ({ ...state, ...actions }), [state, actions]);
}

/** The state of all conversations, and their actions. */
export interface UsedChats extends ChatsState, Pick<ChatsStore, "loadMore" | "reconnect"> {}

/** Follows all conversations while the component is mounted. `current`: the id of the conversation on the screen. */
export function useChats(
  client: SheafClient,
  { current, ...options }: ChatsOptions & { readonly current?: string | undefined } = {},
): UsedChats {
  const latest = useRef(options);
  const chats = useMemo(
    () => createChats(client, { share: options.share, onEvent: (event) => latest.current.onEvent?.(event) }),
    [client, options.share],
  );
  useEffect(() => {
    latest.current = options;
  });
  useEffect(() => {
    chats.open();
    return chats.close;
  }, [chats]);
  useEffect(() => chats.show(current), [chats, current]);
  const state = useStore(chats);
  return useMemo(() => ({ ...state, loadMore: chats.loadMore, reconnect: chats.reconnect }), [state, chats]);
}

/** A message that is being written. */
export interface UsedDraft {
  /** Properties of the element in which the person writes. */
  readonly field: {
    readonly value: string;
    readonly onChange: (event: { readonly currentTarget: { readonly value: string } }) => void;
  };
  /** True if the field has no text to send. */
  readonly isEmpty: boolean;
  /** Empties the field and sends. Restores a message that wasn't sent. Suits `onSubmit` of a form. */
  readonly send: (event?: { readonly preventDefault: () => void }) => void;
}

/** Makes a field for the next message of a conversation. While mounted, it remembers one text per conversation. */
export function useDraft({ id, send }: Pick<UsedConversation, "id" | "send">): UsedDraft {
  const kept = useRef(new Map<string | undefined, string>());
  const shown = useRef(send);
  const [draft, setDraft] = useState({ send, text: "" });
  const text = draft.send === send ? draft.text : (kept.current.get(id) ?? "");
  useEffect(() => {
    shown.current = send;
    if (draft.send === send) kept.current.set(id, text);
  });
  const sendText = async (): Promise<void> => {
    setDraft({ send, text: "" });
    if (await send({ message: text })) return;
    // A newer text in the field stays.
    if (shown.current === send) setDraft((now) => ({ send, text: (now.send === send && now.text) || text }));
    else if (!kept.current.get(id)) kept.current.set(id, text);
  };
  const isEmpty = text.trim() === "";
  return {
    field: { value: text, onChange: ({ currentTarget }) => setDraft({ send, text: currentTarget.value }) },
    isEmpty,
    send(event) {
      event?.preventDefault();
      if (!isEmpty) void sendText();
    },
  };
}

/** Reads the state of a store that was created elsewhere: by `createResponseStore` or `createConversation`. */
export function useStore<State>({ subscribe, getSnapshot }: ReadableStore<State>): State {
  return useSyncExternalStore(subscribe, getSnapshot, getSnapshot);
}

function open(
  client: SheafClient,
  options: ConversationOptions,
  latest: { readonly current: ConversationOptions },
): OpenedConversation {
  const { subscribe, getSnapshot, ...actions } = createConversation(client, {
    ...options,
    onChange: (id) => latest.current.onChange?.(id),
    get request() {
      return latest.current.request;
    },
  });
  return { client, id: options.id, store: { subscribe, getSnapshot }, actions };
}
