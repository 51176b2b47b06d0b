import { SheafApiError, type SheafClient } from "@sheaf/client";
import { useEffect, useRef, useState } from "preact/hooks";
import { goToConversation } from "../app/use-route.ts";
import { useAnnounce } from "../elements/announcer.tsx";
import { listen } from "../elements/listen.ts";
import { useMessages } from "../messages/use-messages.ts";
import { createDeletions, type Deletions } from "./deletions.ts";

interface UseDeletionsPorts {
  readonly client: SheafClient;
  readonly describe: (error: unknown) => string;
  readonly onFailure: (error: unknown) => void;
  /** Id of the visible conversation. */
  readonly current: string | undefined;
  readonly onEnd: (id: string) => void;
}

/** Deletions that outlive their conversation's page. Closing the tab starts them; opening the conversation cancels. */
export function useDeletions(ports: UseDeletionsPorts): {
  readonly deletions: Deletions;
  readonly remove: (id: string, title: string) => void;
} {
  const messages = useMessages();
  const announce = useAnnounce();
  const latest = useRef({ ...ports, announce });
  latest.current = { ...ports, announce };
  const [deletions] = useState(() =>
    createDeletions({
      remove: (id, isLeaving) => deleteConversation(latest.current.client, id, isLeaving),
      wait(milliseconds, then) {
        const timer = setTimeout(then, milliseconds);
        return () => clearTimeout(timer);
      },
      onEnd: (id) => latest.current.onEnd(id),
      onFailure(error) {
        latest.current.onFailure(error);
        latest.current.announce(latest.current.describe(error));
      },
    }),
  );
  const { current } = ports;
  useEffect(() => {
    if (current !== undefined) deletions.undo(current);
  }, [deletions, current]);
  useEffect(() => listen(window, ["pagehide"], deletions.carryOutAll), [deletions]);
  return {
    deletions,
    remove(id, title) {
      if (id === current) goToConversation(undefined);
      deletions.add({ id, title });
      announce(messages.deletedTitle({ title }));
    },
  };
}

async function deleteConversation(client: SheafClient, id: string, isLeaving: boolean): Promise<void> {
  if (isLeaving) {
    await fetch(`/v1/conversations/${encodeURIComponent(id)}`, { method: "DELETE", keepalive: true });
    return;
  }
  try {
    await client.deleteConversation(id);
  } catch (error) {
    // Another page has deleted the conversation already.
    if (!(error instanceof SheafApiError && error.status === 404)) throw error;
  }
}
