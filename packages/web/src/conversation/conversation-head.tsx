import type { ConversationState } from "@sheaf/client/chat";
import type { ConversationSummary } from "@sheaf/protocol";
import { useRef, useState } from "preact/hooks";
import { Button } from "../elements/button.tsx";
import { Menu, MenuItem } from "../elements/menu.tsx";
import { TitleField } from "../elements/title-field.tsx";
import { useMessages } from "../messages/use-messages.ts";
import { CompareDialog } from "./compare-dialog.tsx";
import { ChangesDialog, type ChangesPorts } from "./changes-dialog.tsx";
import { UsagePopover } from "./usage-popover.tsx";

interface ConversationHeadProps {
  readonly state: ConversationState;
  /** Name of the conversation's workspace. */
  readonly workspace: string;
  readonly ports: ChangesPorts;
  /** Usage from the list of conversations. */
  readonly usage: ConversationSummary["usage"];
  /** Context window of the next message's model. */
  readonly windowTokens: number | undefined;
  readonly onShowSidebar: () => void;
  /** Deletes the conversation, unless the user undoes it in time. */
  readonly onRemove: (id: string, title: string) => void;
  readonly onRename: (title: string) => void;
}

/** Title and actions of a conversation. */
export function ConversationHead({
  state,
  workspace,
  usage,
  windowTokens,
  ports,
  onShowSidebar,
  onRemove,
  onRename,
}: ConversationHeadProps) {
  const messages = useMessages();
  const [isNaming, setNaming] = useState(false);
  const head = useRef<HTMLElement>(null);
  const [hasChanges, setChanges] = useState(false);
  const hasEdits = state.turns.some(({ response }) => response.documents.some(({ type }) => type === "file_edit"));
  const title = state.title === "" ? messages.newConversation : state.title;
  return (
    <header class="head" ref={head}>
      <Button
        icon="menu"
        label={messages.showConversations}
        class="narrow-only"
        aria-controls="sidebar"
        aria-expanded="false"
        onClick={onShowSidebar}
      />
      <h1 class={isNaming ? "unseen" : "head-title"} dir="auto" title={title}>
        {title}
      </h1>
      {isNaming ? (
        <TitleField
          title={title}
          style="head-title head-field"
          onEnd={(written) => {
            // Enter and Escape remove the field with its focus, so the menu gets it, unless the user clicked elsewhere.
            if (document.activeElement === document.body)
              head.current?.querySelector<HTMLElement>("[aria-haspopup]")?.focus();
            setNaming(false);
            if (written !== undefined) onRename(written);
          }}
        />
      ) : undefined}
      <UsagePopover turns={state.turns} listed={usage} windowTokens={windowTokens} />
      {state.id !== undefined && hasEdits ? (
        <Button kind="quiet" label={messages.changes} onClick={() => setChanges(true)} />
      ) : undefined}
      {state.id !== undefined && hasChanges ? (
        <ChangesDialog id={state.id} workspace={workspace} ports={ports} onClose={() => setChanges(false)} />
      ) : undefined}
      {state.id === undefined || state.status !== "ready" ? undefined : (
        <ConversationMenu
          id={state.id}
          title={title}
          ports={ports}
          onRemove={onRemove}
          onName={() => setNaming(true)}
        />
      )}
    </header>
  );
}

interface ConversationMenuProps extends Pick<ConversationHeadProps, "onRemove" | "ports"> {
  readonly onName: () => void;
  readonly id: string;
  readonly title: string;
}

function ConversationMenu({ id, title, ports, onRemove, onName }: ConversationMenuProps) {
  const messages = useMessages();
  const [isComparing, setComparing] = useState(false);
  return (
    <>
      <Menu icon="more" label={messages.conversationActions}>
        <MenuItem icon="fileEdit" onSelect={onName}>
          {messages.rename}
        </MenuItem>
        <MenuItem icon="fork" onSelect={() => setComparing(true)}>
          {messages.compare}
        </MenuItem>
        <MenuItem icon="download" onSelect={() => downloadExport(id, "markdown")}>
          {messages.exportMarkdown}
        </MenuItem>
        <MenuItem icon="download" onSelect={() => downloadExport(id, "json")}>
          {messages.exportJson}
        </MenuItem>
        <MenuItem icon="trash" onSelect={() => onRemove(id, title)} isDangerous>
          {messages.deleteConversation}
        </MenuItem>
      </Menu>
      {isComparing ? (
        <CompareDialog id={id} title={title} ports={ports} onClose={() => setComparing(false)} />
      ) : undefined}
    </>
  );
}

/** Downloads a conversation; the server chooses the file's name (X37). */
function downloadExport(id: string, format: "markdown" | "json"): void {
  const link = document.createElement("a");
  link.href = `/v1/conversations/${encodeURIComponent(id)}/export?format=${format}`;
  link.download = "";
  link.click();
}
