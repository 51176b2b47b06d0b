import type { ConversationSummary, SearchMatch } from "@sheaf/protocol";
import { useEffect, useRef, useState } from "preact/hooks";
import { formatMoment } from "../elements/format.ts";
import { Icon, type IconName } from "../elements/icon.tsx";
import { Menu, MenuItem } from "../elements/menu.tsx";
import { TitleField } from "../elements/title-field.tsx";
import { VisibleText } from "../elements/visible-text.tsx";
import { useLanguage, useMessages } from "../messages/use-messages.ts";
import { toMarkedParts } from "./marked-parts.ts";

/** State of a conversation, shown next to its title. */
type RowState = "waiting" | "running" | "failed" | "asks" | "ended";

const stateIcons: Readonly<Record<RowState, IconName>> = {
  waiting: "shield",
  running: "circleHalf",
  failed: "warning",
  asks: "question",
  ended: "circleCheck",
};

export interface RowActions {
  readonly rename: (id: string, title: string) => void;
  readonly pin: (id: string, isPinned: boolean) => void;
  readonly remove: (id: string, title: string) => void;
}

interface ConversationRowProps {
  readonly conversation: ConversationSummary;
  readonly isCurrent: boolean;
  readonly state: RowState | undefined;
  readonly actions: RowActions;
  readonly onSelect: () => void;
}

/** A conversation in the list: a link, with a menu of actions. */
export function ConversationRow({ conversation, isCurrent, state, actions, onSelect }: ConversationRowProps) {
  const messages = useMessages();
  const [isNaming, setNaming] = useState(false);
  const link = useRef<HTMLAnchorElement>(null);
  const wasNaming = useRef(false);
  useEffect(() => {
    if (wasNaming.current && !isNaming) link.current?.focus();
    wasNaming.current = isNaming;
  }, [isNaming]);
  const { id, pinned = false } = conversation;
  const title = conversation.title === "" ? messages.untitled : conversation.title;
  if (isNaming) {
    return (
      <TitleField
        title={title}
        style="row-field"
        onEnd={(written) => {
          setNaming(false);
          if (written !== undefined) actions.rename(id, written);
        }}
      />
    );
  }
  return (
    <div class="conversation-row">
      <a
        ref={link}
        class="conversation-link"
        href={`#/${encodeURIComponent(id)}`}
        aria-current={isCurrent ? "page" : undefined}
        onClick={onSelect}
        onKeyDown={({ key }) => (key === "F2" ? setNaming(true) : undefined)}
      >
        <RowText conversation={conversation} title={title} state={state} />
      </a>
      <Menu icon="more" label={messages.actionsOf({ title })}>
        <MenuItem icon="pin" onSelect={() => actions.pin(id, !pinned)}>
          {pinned ? messages.unpin : messages.pin}
        </MenuItem>
        <MenuItem icon="fileEdit" onSelect={() => setNaming(true)}>
          {messages.rename}
        </MenuItem>
        <MenuItem icon="trash" onSelect={() => actions.remove(id, title)} isDangerous>
          {messages.deleteConversation}
        </MenuItem>
      </Menu>
    </div>
  );
}

interface RowTextProps {
  readonly conversation: ConversationSummary;
  readonly title: string;
  readonly state: RowState | undefined;
}

function RowText({ conversation: { match, updated }, title, state }: RowTextProps) {
  const messages = useMessages();
  const language = useLanguage();
  return (
    <>
      <span class="conversation-title" dir="auto" title={title}>
        {match?.where === "title" ? <Excerpt match={match} /> : title}
      </span>
      {state === undefined ? (
        <time dateTime={updated}>{formatMoment(updated, language, Date.now())}</time>
      ) : (
        <span class={`row-state ${state}`} title={messages.rowStates[state]}>
          <Icon name={stateIcons[state]} />
          <span class="unseen">{messages.rowStates[state]}</span>
        </span>
      )}
      {match === undefined || match.where === "title" ? undefined : (
        <span class="excerpt" dir="auto">
          <Excerpt match={match} />
        </span>
      )}
    </>
  );
}

/** Untrusted text with its matches marked. */
function Excerpt({ match }: { readonly match: SearchMatch }) {
  return (
    <>
      {toMarkedParts(match).map(({ text, isMatch }) =>
        isMatch ? <VisibleText as="mark" text={text} /> : <VisibleText text={text} />,
      )}
    </>
  );
}
