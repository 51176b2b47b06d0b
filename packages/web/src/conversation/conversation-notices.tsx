import type { WorkspaceList } from "@sheaf/protocol";
import type { ComponentChildren } from "preact";
import { Icon } from "../elements/icon.tsx";
import { VisibleText } from "../elements/visible-text.tsx";
import { useMessages } from "../messages/use-messages.ts";
import type { ConversationState } from "./conversation-state.ts";

interface EmptyConversationProps {
  readonly onExample: (text: string) => void;
  readonly children: ComponentChildren;
}

/** A conversation without a message. */
export function EmptyConversation({ onExample, children }: EmptyConversationProps) {
  const messages = useMessages();
  return (
    <section class="empty" id="conversation">
      <img src="/icon.svg" alt="" width="48" height="48" />
      <h2>{messages.emptyTitle}</h2>
      <p>{messages.emptyText}</p>
      {children}
      <ul class="examples">
        {messages.examples.map((example) => (
          <li key={example}>
            <button
              type="button"
              class="example"
              onClick={() => {
                onExample(example);
                document.querySelector<HTMLElement>(".composer-field")?.focus();
              }}
            >
              {example}
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

/** Where a new conversation begins: its workspace and branch, to choose from if the server has several. */
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

interface LoadFailureProps {
  readonly state: ConversationState;
  readonly onRetry: () => void;
}

/** A conversation that could not be shown. */
export function LoadFailure({ state, onRetry }: LoadFailureProps) {
  const messages = useMessages();
  const isMissing = state.phase === "missing";
  return (
    <section class="empty" id="conversation" role="alert">
      <h2>{isMissing ? messages.notFound : messages.loadFailed}</h2>
      {isMissing ? undefined : <p>{state.refusal}</p>}
      {isMissing ? (
        <a class="primary-button" href="#/">
          {messages.newConversation}
        </a>
      ) : (
        <button type="button" class="primary-button" onClick={onRetry}>
          {messages.tryAgain}
        </button>
      )}
    </section>
  );
}

interface ConnectionNoticeProps {
  readonly state: ConversationState;
  readonly isOnline: boolean;
  readonly onRetry: () => void;
}

/** What is wrong with the connection to the answer, if anything. */
export function ConnectionNotice({ state, isOnline, onRetry }: ConnectionNoticeProps) {
  const messages = useMessages();
  if (!isOnline) return <Notice text={messages.offline} />;
  if (state.connection === "waiting") return <Notice text={messages.reconnecting} />;
  if (state.connection !== "broken" || state.turns.at(-1)?.response.status !== "streaming") return undefined;
  return (
    <Notice text={messages.streamBroken}>
      <button type="button" class="quiet-button" onClick={onRetry}>
        {messages.tryAgain}
      </button>
    </Notice>
  );
}

function Notice({ text, children }: { readonly text: string; readonly children?: ComponentChildren }) {
  return (
    <div class="connection" role="status">
      <Icon name="warning" />
      <span>{text}</span>
      {children}
    </div>
  );
}

/** What prevents an undo: one line per file. */
export function ChangedFiles({ files }: { readonly files: readonly string[] }) {
  const messages = useMessages();
  return (
    <>
      <p>{messages.conflictText}</p>
      <ul class="changed-files">
        {files.map((file) => (
          <li key={file}>
            <VisibleText text={file} />
          </li>
        ))}
      </ul>
    </>
  );
}
