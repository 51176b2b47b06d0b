import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { AttachedFiles } from "../composer/attached-files.tsx";
import { Menu, MenuItem } from "../elements/menu.tsx";
import { PlainText } from "../elements/plain-text.tsx";
import { formatMoment } from "../elements/format.ts";
import { useLanguage, useMessages } from "../messages/use-messages.ts";
import type { MessageRowData } from "./rows.ts";
import { VersionSwitch } from "./version-switch.tsx";

/** Actions of a conversation's rows, apart from its documents. */
export interface ConversationActions {
  /** Makes a new conversation that shares everything up to this response. */
  readonly fork: (responseId: string) => void;
  /** Undoes this response, everything after it, and the file changes. */
  readonly revert: (responseId: string) => void;
  /** Switches to another version and its files. */
  readonly show: (responseId: string) => void;
  /** Sends the message of this response again, as another version. */
  readonly retry: (responseId: string) => void;
  /** Puts the message of this response into the field. */
  readonly edit: (responseId: string, message: string) => void;
  /** Loads the reasoning; resolves to true if the server sent it. */
  readonly loadReasoning: (responseId: string) => Promise<boolean>;
}

export const ConversationActionsContext = createContext<ConversationActions>({
  fork: () => undefined,
  revert: () => undefined,
  show: () => undefined,
  retry: () => undefined,
  edit: () => undefined,
  loadReasoning: () => Promise.resolve(false),
});

export function useConversationActions(): ConversationActions {
  return useContext(ConversationActionsContext);
}

export function MessageRow({ row }: { readonly row: MessageRowData }) {
  const messages = useMessages();
  const language = useLanguage();
  const actions = useConversationActions();
  const { responseId, created, isSettled, message, attachments = [], versions } = row;
  return (
    <div class="message">
      <div class="message-head">
        <span class="message-author">{messages.you}</span>
        {created === "" ? undefined : <time dateTime={created}>{formatMoment(created, language, Date.now())}</time>}
        {versions && isSettled ? (
          <VersionSwitch versions={versions} responseId={responseId} onShow={actions.show} />
        ) : undefined}
        {isSettled ? (
          <Menu icon="more" label={messages.messageActions}>
            <MenuItem icon="fork" onSelect={() => actions.fork(responseId)}>
              {messages.fork}
            </MenuItem>
            {message === "" ? undefined : (
              <MenuItem icon="fileEdit" onSelect={() => actions.edit(responseId, message)}>
                {messages.editMessage}
              </MenuItem>
            )}
            <MenuItem icon="undo" onSelect={() => actions.revert(responseId)} isDangerous>
              {messages.revert}
            </MenuItem>
          </Menu>
        ) : undefined}
      </div>
      <AttachedFiles files={attachments} responseId={responseId} before={row.filesBefore} />
      {message === "" && attachments.length > 0 ? undefined : (
        <PlainText class="message-text" text={message === "" ? messages.answered : message} />
      )}
    </div>
  );
}
