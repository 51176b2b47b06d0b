import type { ConversationSummary } from "@sheaf/protocol";
import { Fragment } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { AttentionState, AttentionStore } from "../attention/attention-store.ts";
import { Button } from "../elements/button.tsx";
import { formatDay } from "../elements/format.ts";
import { Icon } from "../elements/icon.tsx";
import { listen } from "../elements/listen.ts";
import { useStore } from "../elements/use-store.ts";
import { CodedText } from "../elements/visible-text.tsx";
import { useLanguage, useMessages } from "../messages/use-messages.ts";
import type { ConversationListStore } from "./conversation-list-store.ts";
import { ConversationRow, type RowActions } from "./conversation-row.tsx";
import type { Deletions } from "./deletions.ts";
import type { Drawer } from "./use-drawer.ts";

interface SidebarProps {
  readonly list: ConversationListStore;
  /** Id of the visible conversation. */
  readonly current: string | undefined;
  readonly drawer: Drawer;
  readonly attention: AttentionStore;
  readonly deletions: Deletions;
  readonly onRemove: (id: string, title: string) => void;
  /** Called when the user opens a conversation from the list. */
  readonly onSelect: (conversation: ConversationSummary) => void;
  readonly onDialog: (dialog: "settings" | "keys") => void;
}

/** The list of conversations, and a button for a new one. */
export function Sidebar(props: SidebarProps) {
  const { list, current, drawer, attention, deletions, onRemove, onSelect, onDialog } = props;
  const messages = useMessages();
  const state = useStore(list);
  const search = useRef<HTMLInputElement>(null);
  useEffect(
    () =>
      listen(document, ["keydown"], (event: KeyboardEvent) => {
        const isFree = event.target instanceof Element && !event.target.closest("input, textarea, select, dialog");
        if (event.key === "?" && isFree) onDialog("keys");
        if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
        event.preventDefault();
        if (search.current?.checkVisibility() === false) drawer.show();
        // The field gets the focus after the drawer has opened.
        setTimeout(() => search.current?.focus());
      }),
    [drawer],
  );
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
        <Button icon="close" label={messages.hideConversations} class="narrow-only" onClick={drawer.hide} />
      </div>
      <a class="new-conversation" href="#/" onClick={drawer.hide}>
        <Icon name="plus" />
        {messages.newConversation}
      </a>
      <label class="search">
        <Icon name="search" />
        <input
          type="search"
          ref={search}
          aria-keyshortcuts="Control+K Meta+K"
          aria-label={messages.searchConversations}
          placeholder={messages.searchConversations}
          value={state.search}
          onInput={(event) => list.search(event.currentTarget.value)}
        />
      </label>
      <ConversationRows
        list={list}
        current={current}
        attention={attention}
        deletions={deletions}
        onRemove={onRemove}
        onSelect={onSelect}
      />
      <div class="sidebar-foot">
        <button type="button" class="foot-button" onClick={() => onDialog("settings")}>
          <Icon name="settings" />
          {messages.settings}
        </button>
        <Button icon="question" label={messages.keys.title} onClick={() => onDialog("keys")} />
      </div>
    </nav>
  );
}

type RowsProps = Pick<SidebarProps, "list" | "current" | "attention" | "deletions" | "onRemove" | "onSelect">;

function ConversationRows({ list, current, attention, deletions, onRemove, onSelect }: RowsProps) {
  const messages = useMessages();
  const { phase, conversations, hasMore, search, failure } = useStore(list);
  const language = useLanguage();
  const news = useStore(attention);
  const pending = useStore(deletions);
  const rows = useRef<HTMLDivElement>(null);
  const moved = useRef("");
  useLayoutEffect(() => {
    // A pinned row moves to another list, and loses the focus.
    const link = rows.current?.querySelector<HTMLElement>(`[href="#/${encodeURIComponent(moved.current)}"]`);
    if (document.activeElement === document.body) link?.focus();
    moved.current = "";
  }, [conversations]);
  const actions: RowActions = {
    rename: (id, title) => void list.change(id, { title }),
    pin: (id, pinned) => {
      moved.current = id;
      void list.change(id, { pinned });
    },
    remove: onRemove,
  };
  if (phase === "failed") {
    return (
      <div class="sidebar-note">
        <p>
          <CodedText text={failure ?? ""} />
        </p>
        <Button kind="quiet" label={messages.tryAgain} onClick={list.refresh} />
      </div>
    );
  }
  const shown = conversations.filter(({ id }) => pending.every((deletion) => deletion.id !== id));
  if (shown.length === 0) {
    const text = search === "" ? messages.noConversations : messages.noConversationFound({ query: search });
    return <p class="sidebar-note">{phase === "loading" ? messages.loading : text}</p>;
  }
  const toRow = (conversation: ConversationSummary) => (
    <li key={conversation.id}>
      <ConversationRow
        conversation={conversation}
        isCurrent={conversation.id === current}
        state={toRowState(conversation, news)}
        actions={actions}
        onSelect={() => onSelect(conversation)}
      />
    </li>
  );
  const pinned = search === "" ? shown.filter((conversation) => conversation.pinned === true) : [];
  const others = shown.filter((conversation) => !pinned.includes(conversation));
  const days = Map.groupBy(others, ({ updated }) => formatDay(updated, language, Date.now()));
  return (
    <div class="conversation-rows" ref={rows}>
      {pinned.length === 0 ? undefined : (
        <>
          <h2 id="pinned-rows">{messages.pinned}</h2>
          <ul aria-labelledby="pinned-rows">{pinned.map(toRow)}</ul>
        </>
      )}
      {[...days].map(([day, ofDay]) => (
        <Fragment key={day}>
          <h2>{day}</h2>
          <ul aria-label={day}>{ofDay.map(toRow)}</ul>
        </Fragment>
      ))}
      {!hasMore ? undefined : (
        <Button kind="quiet" label={messages.moreConversations} class="more" onClick={() => void list.loadMore()} />
      )}
    </div>
  );
}

/** Returns the state of a row. The list's state has priority over this tab's, which may be older. */
function toRowState({ id, runningResponseId, approvals = [] }: ConversationSummary, news: AttentionState) {
  if (approvals.length > 0 || news.waiting.has(id)) return "waiting";
  if (runningResponseId !== undefined || news.running.has(id)) return "running";
  const kind = news.news.get(id);
  return kind === "approval" ? undefined : kind;
}
