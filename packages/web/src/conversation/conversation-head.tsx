import type { SheafClient } from "@sheaf/client";
import type { ConversationState } from "@sheaf/client/chat";
import { useEffect, useRef, useState } from "preact/hooks";
import { goToConversation } from "../app/use-route.ts";
import { useAnnounce } from "../elements/announcer.tsx";
import { useConfirm } from "../elements/confirm.tsx";
import { Icon } from "../elements/icon.tsx";
import { Menu, MenuItem } from "../elements/menu.tsx";
import { useMessages } from "../messages/use-messages.ts";
import { ChangesDialog } from "./changes-dialog.tsx";
import { saveAsFile, toFileName, toJsonExport, toMarkdownExport } from "./export-conversation.ts";

interface ConversationHeadProps {
  readonly state: ConversationState;
  /** Name of its workspace. */
  readonly workspace: string;
  readonly ports: { readonly client: SheafClient; readonly describe: (error: unknown) => string };
  readonly onShowSidebar: () => void;
  readonly onChange: (id: string) => void;
  readonly onRename: (title: string) => void;
}

/** Title and actions. */
export function ConversationHead({
  state,
  workspace,
  ports,
  onShowSidebar,
  onChange,
  onRename,
}: ConversationHeadProps) {
  const messages = useMessages();
  const [isNaming, setNaming] = useState(false);
  const [hasChanges, setChanges] = useState(false);
  const hasEdits = state.turns.some(({ response }) => response.documents.some(({ type }) => type === "file_edit"));
  const title = state.title === "" ? messages.newConversation : state.title;
  return (
    <header class="head">
      <button
        type="button"
        class="tool-button narrow-only"
        aria-label={messages.showConversations}
        aria-controls="sidebar"
        aria-expanded="false"
        onClick={onShowSidebar}
      >
        <Icon name="menu" />
      </button>
      {isNaming ? (
        <TitleField
          title={title}
          onEnd={(written) => {
            setNaming(false);
            if (written !== undefined && written !== state.title) onRename(written);
          }}
        />
      ) : (
        <h1 class="head-title" dir="auto">
          {title}
        </h1>
      )}
      {state.id !== undefined && hasEdits ? (
        <button type="button" class="quiet-button" onClick={() => setChanges(true)}>
          {messages.changes}
        </button>
      ) : undefined}
      {state.id !== undefined && hasChanges ? (
        <ChangesDialog id={state.id} workspace={workspace} ports={ports} onClose={() => setChanges(false)} />
      ) : undefined}
      {state.id === undefined || state.status !== "ready" ? undefined : (
        <ConversationMenu
          id={state.id}
          title={title}
          state={state}
          ports={ports}
          onChange={onChange}
          onName={() => setNaming(true)}
        />
      )}
    </header>
  );
}

/** Enter keeps the title, Escape does not; an empty one is none. */
function TitleField({ title, onEnd }: { readonly title: string; readonly onEnd: (title: string | undefined) => void }) {
  const messages = useMessages();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), []);
  return (
    <input
      ref={field}
      class="head-title head-field"
      dir="auto"
      maxLength={200}
      aria-label={messages.conversationTitle}
      defaultValue={title}
      onBlur={({ currentTarget: { value } }) => onEnd(value.trim() || undefined)}
      onKeyDown={({ key, isComposing, currentTarget }) => {
        if (key === "Escape") currentTarget.value = "";
        if (key === "Escape" || (key === "Enter" && !isComposing)) currentTarget.blur();
      }}
    />
  );
}

interface ConversationMenuProps extends Omit<ConversationHeadProps, "workspace" | "onShowSidebar" | "onRename"> {
  readonly onName: () => void;
  readonly id: string;
  readonly title: string;
}

function ConversationMenu({ id, title, state, ports, onChange, onName }: ConversationMenuProps) {
  const messages = useMessages();
  const confirm = useConfirm();
  const announce = useAnnounce();
  const removeConversation = async (): Promise<void> => {
    try {
      await ports.client.deleteConversation(id);
      announce(messages.deleted);
      goToConversation(undefined);
      onChange(id);
    } catch (error) {
      announce(ports.describe(error));
    }
  };
  const askDelete = (): void =>
    confirm({
      title: messages.deleteTitle,
      text: <p>{messages.deleteText(title)}</p>,
      confirm: messages.deleteConfirm,
      isDangerous: true,
      onConfirm: () => void removeConversation(),
    });
  return (
    <Menu icon="more" label={messages.conversationActions}>
      <MenuItem icon="fileEdit" onSelect={onName}>
        {messages.rename}
      </MenuItem>
      <MenuItem
        icon="download"
        onSelect={() => saveAsFile(toFileName(title, "md"), "text/markdown", toMarkdownExport(title, state.turns))}
      >
        {messages.exportMarkdown}
      </MenuItem>
      <MenuItem
        icon="download"
        onSelect={() => saveAsFile(toFileName(title, "json"), "application/json", toJsonExport(id, title, state.turns))}
      >
        {messages.exportJson}
      </MenuItem>
      <MenuItem icon="trash" onSelect={askDelete} isDangerous>
        {messages.deleteConversation}
      </MenuItem>
    </Menu>
  );
}
