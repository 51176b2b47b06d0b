import type { ConversationState } from "@sheaf/client/chat";
import type { RevertResult } from "@sheaf/protocol";
import type { ComponentChildren } from "preact";
import { Button } from "../elements/button.tsx";
import { Icon } from "../elements/icon.tsx";
import { CodedText, VisibleText } from "../elements/visible-text.tsx";
import { useMessages } from "../messages/use-messages.ts";

interface LoadFailureProps {
  readonly isMissing: boolean;
  readonly reason: string;
  readonly onRetry: () => void;
}

/** The reason why a conversation failed to load. */
export function LoadFailure({ isMissing, reason, onRetry }: LoadFailureProps) {
  const messages = useMessages();
  return (
    <section class="empty" id="conversation" role="alert">
      <h2>{isMissing ? messages.notFound : messages.loadFailed}</h2>
      {isMissing ? undefined : (
        <p>
          <CodedText text={reason} />
        </p>
      )}
      {isMissing ? (
        <a class="primary-button" href="#/">
          {messages.newConversation}
        </a>
      ) : (
        <Button kind="primary" label={messages.tryAgain} onClick={onRetry} />
      )}
    </section>
  );
}

interface ConnectionNoticeProps {
  readonly state: ConversationState;
  readonly isOnline: boolean;
  readonly onRetry: () => void;
}

/** A notice about a missing or broken connection to the answer. */
export function ConnectionNotice({ state, isOnline, onRetry }: ConnectionNoticeProps) {
  const messages = useMessages();
  if (!isOnline) return <Notice text={messages.offline} />;
  if (state.connection === "waiting") return <Notice text={messages.reconnecting} />;
  if (state.connection !== "broken" || !state.isAnswering) return undefined;
  return (
    <Notice text={messages.streamBroken}>
      <Button kind="quiet" label={messages.tryAgain} onClick={onRetry} />
    </Notice>
  );
}

interface NoticeProps {
  readonly text: string;
  readonly role?: "status" | "alert";
  readonly children?: ComponentChildren;
}

export function Notice({ text, role = "status", children }: NoticeProps) {
  return (
    <div class="connection" role={role}>
      <Icon name="warning" />
      <span>
        <CodedText text={text} />
      </span>
      {children}
    </div>
  );
}

/** Effects of another version on files: one line per file. */
export function FileChanges({ files, conflicts }: Pick<RevertResult, "files" | "conflicts">) {
  const messages = useMessages();
  return (
    <>
      {files.length === 0 ? undefined : (
        <ul class="changed-files">
          {files.map(({ filePath, action }) => (
            <VisibleText as="li" key={filePath} text={`${filePath}: ${messages.fileFates[action]}`} />
          ))}
        </ul>
      )}
      {conflicts.length === 0 ? undefined : (
        <>
          <p>{messages.conflictText}</p>
          <ul class="changed-files">
            {conflicts.map(({ filePath, reason }) => (
              <VisibleText as="li" key={filePath} text={`${filePath}: ${reason}`} />
            ))}
          </ul>
        </>
      )}
    </>
  );
}
