import type { ConversationSummary } from "@sheaf/protocol";
import { formatMoment } from "../elements/format.ts";
import { Icon } from "../elements/icon.tsx";
import { useStore } from "../elements/store.ts";
import { useLanguage, useMessages } from "../messages/use-messages.ts";
import type { ConversationListStore } from "./conversation-list-store.ts";
import type { Drawer } from "./use-drawer.ts";

interface SidebarProps {
  readonly list: ConversationListStore;
  /** The conversation that is shown. */
  readonly current: string | undefined;
  readonly drawer: Drawer;
  readonly onSettings: () => void;
}

/** The list of conversations, and a button for a new one. */
export function Sidebar({ list, current, drawer, onSettings }: SidebarProps) {
  const messages = useMessages();
  const state = useStore(list);
  return (
    <nav
      class={drawer.isShown ? "sidebar shown" : "sidebar"}
      aria-label={messages.conversations}
      id="sidebar"
      ref={drawer.frame}
    >
      <div class="sidebar-head">
        <a class="brand" href="#/" onClick={drawer.hide}>
          <img src="/icon.svg" alt="" width="24" height="24" />
          <span>Sheaf</span>
        </a>
        <button
          type="button"
          class="tool-button narrow-only"
          aria-label={messages.hideConversations}
          onClick={drawer.hide}
        >
          <Icon name="close" />
        </button>
      </div>
      <a class="new-conversation" href="#/" onClick={drawer.hide}>
        <Icon name="plus" />
        {messages.newConversation}
      </a>
      <label class="search">
        <Icon name="search" />
        <input
          type="search"
          aria-label={messages.searchConversations}
          placeholder={messages.searchConversations}
          value={state.search}
          onInput={(event) => list.search(event.currentTarget.value)}
        />
      </label>
      <ConversationRows list={list} current={current} onSelect={drawer.hide} />
      <div class="sidebar-foot">
        <button type="button" class="foot-button" onClick={onSettings}>
          <Icon name="settings" />
          {messages.settings}
        </button>
      </div>
    </nav>
  );
}

interface RowsProps {
  readonly list: ConversationListStore;
  readonly current: string | undefined;
  readonly onSelect: () => void;
}

function ConversationRows({ list, current, onSelect }: RowsProps) {
  const messages = useMessages();
  const { phase, conversations, next, search, failure } = useStore(list);
  if (phase === "failed") {
    return (
      <div class="sidebar-note">
        <p>{failure}</p>
        <button type="button" class="quiet-button" onClick={() => void list.refresh()}>
          {messages.tryAgain}
        </button>
      </div>
    );
  }
  if (conversations.length === 0) {
    const text = search === "" ? messages.noConversations : messages.noConversationFound(search);
    return <p class="sidebar-note">{phase === "loading" ? messages.loading : text}</p>;
  }
  return (
    <ul class="conversation-rows">
      {conversations.map((conversation) => (
        <li key={conversation.id}>
          <ConversationLink conversation={conversation} isCurrent={conversation.id === current} onSelect={onSelect} />
        </li>
      ))}
      {next === undefined ? undefined : (
        <li>
          <button type="button" class="quiet-button more" onClick={() => void list.loadMore()}>
            {messages.moreConversations}
          </button>
        </li>
      )}
    </ul>
  );
}

interface ConversationLinkProps {
  readonly conversation: ConversationSummary;
  readonly isCurrent: boolean;
  readonly onSelect: () => void;
}

function ConversationLink({ conversation, isCurrent, onSelect }: ConversationLinkProps) {
  const messages = useMessages();
  const language = useLanguage();
  const { id, title, updated } = conversation;
  return (
    <a
      class="conversation-link"
      href={`#/${encodeURIComponent(id)}`}
      aria-current={isCurrent ? "page" : undefined}
      onClick={onSelect}
    >
      <span class="conversation-title" dir="auto">
        {title === "" ? messages.untitled : title}
      </span>
      <time dateTime={updated}>{formatMoment(updated, language, Date.now())}</time>
    </a>
  );
}
