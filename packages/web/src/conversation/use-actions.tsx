import type { SheafClient } from "@sheaf/client";
import type { ConflictChoice, ConversationStore, EditOptions, RevertOutcome } from "@sheaf/client/chat";
import type { RevertResult } from "@sheaf/protocol";
import { useMemo, useRef } from "preact/hooks";
import { goToConversation } from "../app/use-route.ts";
import { useAnnounce } from "../elements/announcer.tsx";
import { useConfirm } from "../elements/confirm.tsx";
import { CodedText } from "../elements/visible-text.tsx";
import { useMessages } from "../messages/use-messages.ts";
import { FileChanges } from "./conversation-notices.tsx";
import type { ConversationActions } from "./message-row.tsx";

interface ActionPorts {
  readonly ports: { readonly client: SheafClient; readonly describe: (error: unknown) => string };
}

interface PageActions extends ConversationActions {
  /** Sends an edited message as another version. `onSent`: the server has it. */
  readonly sendEdited: (
    responseId: string,
    edited: Pick<EditOptions, "attachments"> & { readonly text: string },
    onSent: () => void,
  ) => void;
}

/** A switch to another branch, with its file changes. */
interface BranchAction {
  /** Looks up the effects on files before the change. */
  readonly look: () => Promise<RevertResult>;
  readonly run: (choice?: ConflictChoice) => Promise<RevertOutcome>;
  readonly onDone?: () => void;
}

/** Makes the actions of a conversation. @param id undefined until the server accepted the first message */
export function useActions(
  { ports }: ActionPorts,
  store: ConversationStore,
  id: string | undefined,
  onEdit: (responseId: string, text: string) => void,
): PageActions {
  const { client, describe } = ports;
  const latest = useRef(onEdit);
  latest.current = onEdit;
  const messages = useMessages();
  const announce = useAnnounce();
  const confirm = useConfirm();
  /** Shows the user which files would change, if any, and asks once. */
  const change = async (action: BranchAction): Promise<void> => {
    const finish = async (choice?: ConflictChoice): Promise<void> => {
      const { kind } = await action.run(choice);
      // A file changed while the user was deciding.
      if (kind === "conflict") return change(action);
      if (kind === "failed") return;
      action.onDone?.();
    };
    const look = await action.look().catch(toError);
    if (look instanceof Error) {
      return confirm({
        title: messages.loadFailed,
        text: (
          <p>
            <CodedText text={describe(look)} />
          </p>
        ),
        confirm: messages.tryAgain,
        onConfirm: () => void change(action),
      });
    }
    const { files, conflicts } = look;
    const changed = files.filter(({ action: fate }) => fate !== "unchanged");
    if (changed.length + conflicts.length === 0) return finish();
    const hasConflicts = conflicts.length > 0;
    const toAnswer = (onConflict: ConflictChoice["onConflict"]) => () => void finish({ onConflict });
    confirm({
      title: messages.filesTitle,
      text: <FileChanges files={changed} conflicts={conflicts} />,
      other: hasConflicts
        ? { label: messages.conflictLeave, onChoose: toAnswer("leave") }
        : { label: messages.filesKeep, onChoose: toAnswer("keep") },
      confirm: hasConflicts ? messages.conflictOverwrite : messages.filesChange,
      isDangerous: hasConflicts,
      onConfirm: toAnswer(hasConflicts ? "overwrite" : "refuse"),
    });
  };
  const lookBefore = (responseId: string) => () => client.revertConversation(id!, responseId, { dryRun: true });
  const fork = async (responseId: string): Promise<void> => {
    if (id === undefined) return;
    try {
      const conversation = await client.forkConversation(id, responseId);
      goToConversation(conversation.id);
      announce(messages.forked);
    } catch (error) {
      announce(describe(error));
    }
  };
  return useMemo(
    () => ({
      revert: (responseId) =>
        void change({
          look: lookBefore(responseId),
          run: (choice) => store.revert(responseId, choice),
          onDone: () => announce(messages.reverted),
        }),
      show: (responseId) =>
        void change({
          look: () => client.showBranch(id!, responseId, { dryRun: true }),
          run: (choice) => store.show(responseId, choice),
        }),
      retry: (responseId) =>
        void change({ look: lookBefore(responseId), run: (choice) => store.regenerate(responseId, choice) }),
      edit: (responseId, text) => latest.current(responseId, text),
      sendEdited: (responseId, { text, attachments }, onSent) =>
        void change({
          look: lookBefore(responseId),
          run: (choice) => store.edit(responseId, text, { attachments, ...choice }),
          onDone: onSent,
        }),
      fork: (responseId) => void fork(responseId),
      loadReasoning: store.loadReasoning,
    }),
    [store, id, messages],
  );
}

function toError(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error(String(cause));
}
