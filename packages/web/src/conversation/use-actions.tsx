import type { SheafClient } from "@sheaf/client";
import type { ConversationStore, RetryOptions, RevertOutcome } from "@sheaf/client/chat";
import { useMemo, useRef } from "preact/hooks";
import { goToConversation } from "../app/use-route.ts";
import { leaveAnswer } from "../composer/focus-composer.ts";
import { useAnnounce } from "../elements/announcer.tsx";
import { useConfirm } from "../elements/confirm.tsx";
import { useMessages } from "../messages/use-messages.ts";
import { ChangedFiles } from "./conversation-notices.tsx";
import type { ConversationActions } from "./message-row.tsx";

interface ActionPorts {
  readonly ports: { readonly client: SheafClient; readonly describe: (error: unknown) => string };
  readonly onChange: (id: string) => void;
}

interface PageActions extends ConversationActions {
  /** Asks, reverts a response, and sends its message as it was edited. `onEnd`: whether the server has it. */
  readonly sendEdited: (
    responseId: string,
    edited: Pick<RetryOptions, "message" | "attachments">,
    onEnd: (isSent: boolean) => void,
  ) => void;
}

type RevertChoice = Pick<RetryOptions, "onConflict">;

/** @param id of the conversation; undefined until its first message was accepted */
export function useActions(
  { ports, onChange }: ActionPorts,
  store: ConversationStore,
  id: string | undefined,
  message: { readonly write: (text: string) => void; readonly edit: (responseId: string, text: string) => void },
): PageActions {
  const latest = useRef(message);
  latest.current = message;
  const messages = useMessages();
  const announce = useAnnounce();
  const confirm = useConfirm();
  /** Asks what to do with files that were changed since, and does it again. */
  const undo = async (run: (options?: RevertChoice) => Promise<RevertOutcome>, onDone: () => void): Promise<void> => {
    const outcome = await run();
    if (outcome.kind === "done") {
      leaveAnswer();
      onDone();
    }
    if (outcome.kind !== "conflict") return;
    confirm({
      title: messages.conflictTitle,
      text: <ChangedFiles files={outcome.files} />,
      other: {
        label: messages.conflictLeave,
        onChoose: () => void undo(() => run({ onConflict: "leave" }), onDone),
      },
      confirm: messages.conflictOverwrite,
      isDangerous: true,
      onConfirm: () => void undo(() => run({ onConflict: "overwrite" }), onDone),
    });
  };
  const revert = (responseId: string, onDone: () => void): void =>
    void undo((options) => store.revert(responseId, options), onDone);
  const retry = async (responseId: string, options?: RevertChoice): Promise<RevertOutcome> => {
    const outcome = await store.retry(responseId, options);
    if (outcome.kind !== "unsent") return outcome;
    latest.current.write(outcome.message.message);
    return { kind: "done" };
  };
  const fork = async (responseId: string): Promise<void> => {
    if (id === undefined) return;
    try {
      const conversation = await ports.client.forkConversation(id, responseId);
      onChange(conversation.id);
      goToConversation(conversation.id);
      announce(messages.forked);
    } catch (error) {
      announce(ports.describe(error));
    }
  };
  return useMemo(
    () => ({
      revert: (responseId) => revert(responseId, () => announce(messages.reverted)),
      retry(responseId) {
        const run = (): void =>
          void undo(
            (options) => retry(responseId, options),
            () => undefined,
          );
        const turn = store.getSnapshot().turns.find(({ response }) => response.id === responseId);
        // The page asks first if an undo changes more than the conversation.
        if (!turn?.response.documents.some(({ type }) => type === "file_edit")) return run();
        confirm({
          title: messages.retryTitle,
          text: <p>{messages.revertText}</p>,
          confirm: messages.tryAgain,
          isDangerous: true,
          onConfirm: run,
        });
      },
      edit: (responseId, text) => latest.current.edit(responseId, text),
      sendEdited: (responseId, edited, onEnd) =>
        confirm({
          title: messages.revertTitle,
          text: <p>{messages.revertText}</p>,
          confirm: messages.editMessage,
          isDangerous: true,
          onConfirm: () =>
            void undo(
              async (options) => {
                const outcome = await store.retry(responseId, { ...edited, ...options });
                if (outcome.kind !== "unsent") return outcome;
                onEnd(false);
                return { kind: "failed" };
              },
              () => onEnd(true),
            ),
        }),
      fork: (responseId) => void fork(responseId),
      loadReasoning: store.loadReasoning,
    }),
    [store, id, messages],
  );
}
