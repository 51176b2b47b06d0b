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
  /** Shows it. */
  readonly onFailure: (error: unknown) => void;
  /** The conversation that is shown. */
  readonly current: string | undefined;
  readonly onEnd: (id: string) => void;
}

/** Deletions that outlive the conversation's page. A page that ends carries them out; one that is opened is undone. */
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
    // Somebody else was faster.
    if (!(error instanceof SheafApiError && error.status === 404)) throw error;
  }
}
