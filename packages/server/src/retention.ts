/** Deletes conversations after a time without messages: at the start, and every hour. */
import { setTimeout as sleep } from "node:timers/promises";
import type { SharedStore } from "@sheaf/store/store";
import { removeConversationFiles } from "@sheaf/agent/workspace/conversation-folders";

/** Size of a batch of deletions, and the pause after it, in which others use the store. */
const BATCH = 50;
const PAUSE_MS = 200;

const EVERY_MS = 60 * 60 * 1000;
const DAY_MS = 24 * 60 * 60 * 1000;

interface RetentionPorts {
  readonly store: Pick<SharedStore, "deleteOldConversations">;
  /** Days until a conversation is deleted; undefined: never. */
  readonly keepDays: number | undefined;
  /** Folder that may have files of conversations. */
  readonly dataFolder: string | undefined;
  /** Removes the rest of a conversation: its tree of git. */
  readonly forget?: ((conversationId: string) => Promise<void>) | undefined;
  readonly now: () => number;
  /** Called after each round that deleted conversations. */
  readonly onDeleted: (count: number) => void;
  readonly onFailure: (error: unknown) => void;
}

export function startRetention({ store, keepDays, dataFolder, forget, now, onDeleted, onFailure }: RetentionPorts) {
  if (keepDays === undefined) return { close: async () => undefined };
  const closed = new AbortController();

  const deleteOld = async (): Promise<void> => {
    let count = 0;
    const before = now() - keepDays * DAY_MS;
    while (!closed.signal.aborted) {
      const ids = await store.deleteOldConversations(before, BATCH);
      for (const id of ids) {
        if (dataFolder !== undefined) await removeConversationFiles(dataFolder, id);
        await forget?.(id).catch(onFailure);
      }
      count += ids.length;
      if (ids.length < BATCH) break;
      await sleep(PAUSE_MS, undefined, { signal: closed.signal }).catch(() => undefined);
    }
    if (count > 0) onDeleted(count);
  };

  let deleting = deleteOld().catch(onFailure);
  const timer = setInterval(() => {
    deleting = deleting.then(deleteOld).catch(onFailure);
  }, EVERY_MS);
  timer.unref();
  return {
    /** Resolves when the last deletion is over. */
    async close(): Promise<void> {
      clearInterval(timer);
      closed.abort();
      await deleting;
    },
  };
}
