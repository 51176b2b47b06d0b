import type { Mode, WorkspaceList } from "@sheaf/protocol";
import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "../elements/icon.tsx";
import { VisibleText } from "../elements/visible-text.tsx";
import { useMessages } from "../messages/use-messages.ts";

/** The suggestions for the first message: one for each mode. */
const starts: readonly { readonly mode: Mode; readonly icon: IconName }[] = [
  { mode: "ask", icon: "search" },
  { mode: "agent", icon: "fileEdit" },
  { mode: "plan", icon: "list" },
  { mode: "debug", icon: "tool" },
];

interface EmptyConversationProps {
  /** Puts a suggestion into the message field. */
  readonly onStart: (prompt: string, mode: Mode) => void;
  /** The choice of the conversation's workspace. */
  readonly children: ComponentChildren;
}

/** The page of a conversation without messages, with suggestions for the first one. */
export function EmptyConversation({ onStart, children }: EmptyConversationProps) {
  const messages = useMessages();
  return (
    <section class="empty" id="conversation">
      <h2>{messages.emptyTitle}</h2>
      {children}
      <ul class="starts">
        {starts.map(({ mode, icon }) => (
          <li key={mode}>
            <button type="button" class="start" onClick={() => onStart(messages.starts[mode].prompt, mode)}>
              <Icon name={icon} />
              <span class="start-title">{messages.starts[mode].title}</span>
              <span class="start-mode">{messages.modes[mode]}</span>
              <span class="start-note">{messages.modeNotes[mode]}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

type Workspace = WorkspaceList["workspaces"][number];

interface WorkspaceChoiceProps {
  readonly workspaces: readonly Workspace[];
  readonly current: Workspace | undefined;
  readonly onChange: (name: string) => void;
}

/** The workspace and branch of a new conversation, with a choice if the server has several. */
export function WorkspaceChoice({ workspaces, current, onChange }: WorkspaceChoiceProps) {
  const messages = useMessages();
  if (!current) return undefined;
  const { name, branch } = current;
  return (
    <p class="workspace">
      <Icon name="folder" />
      {workspaces.length === 1 ? (
        <VisibleText text={name} />
      ) : (
        <select
          class="choice"
          aria-label={messages.workspace}
          value={name}
          onChange={({ currentTarget: { value } }) => onChange(value)}
        >
          {workspaces.map((workspace) => (
            <option key={workspace.name} value={workspace.name}>
              {workspace.name}
            </option>
          ))}
        </select>
      )}
      {branch === undefined ? undefined : (
        <>
          <Icon name="fork" /> <VisibleText text={branch} />
        </>
      )}
    </p>
  );
}
