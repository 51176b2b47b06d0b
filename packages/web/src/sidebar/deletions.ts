/** Conversations that are about to be deleted: until then, an undo costs nothing, since nothing has happened yet. */
import { createStore, type ReadableStore } from "@sheaf/client/chat";

export interface PendingDeletion {
  readonly id: string;
  readonly title: string;
  /** The request is on its way: an undo comes too late. */
  readonly isSent?: true;
}

export interface DeletionPorts {
  /** `isLeaving`: the page ends, and the request must outlive it. */
  readonly remove: (id: string, isLeaving: boolean) => Promise<void>;
  /** Returns the function that cancels it. */
  readonly wait: (milliseconds: number, then: () => void) => () => void;
  readonly onEnd: (id: string) => void;
  readonly onFailure: (error: unknown) => void;
}

export interface Deletions extends ReadableStore<readonly PendingDeletion[]> {
  readonly add: (deletion: PendingDeletion) => void;
  /** Too late once the request is sent. */
  readonly undo: (id: string) => void;
  /** Stops the time while somebody is at the button. */
  readonly hold: (id: string) => void;
  /** The time begins anew. */
  readonly release: (id: string) => void;
  /** Deletes what waits, now: the page ends. */
  readonly carryOutAll: () => void;
}

/** Milliseconds in which a deletion can be undone. */
const undoTime = 10_000;

export function createDeletions({ remove, wait, onEnd, onFailure }: DeletionPorts): Deletions {
  const store = createStore<readonly PendingDeletion[]>([]);
  const timers = new Map<string, () => void>();
  const stop = (id: string): void => {
    timers.get(id)?.();
    timers.delete(id);
  };
  const drop = (id: string): void => {
    stop(id);
    store.set(store.getSnapshot().filter((deletion) => deletion.id !== id));
  };
  const isWaiting = (id: string): boolean =>
    store.getSnapshot().some((deletion) => deletion.id === id && deletion.isSent !== true);
  const carryOut = async (id: string, isLeaving: boolean): Promise<void> => {
    stop(id);
    store.set(store.getSnapshot().map((deletion) => (deletion.id === id ? { ...deletion, isSent: true } : deletion)));
    try {
      await remove(id, isLeaving);
      onEnd(id);
    } catch (error) {
      onFailure(error);
    }
    drop(id);
  };
  const isPending = (id: string): boolean => store.getSnapshot().some((deletion) => deletion.id === id);
  const start = (id: string): void => {
    stop(id);
    timers.set(
      id,
      wait(undoTime, () => void carryOut(id, false)),
    );
  };
  return {
    ...store,
    add(deletion) {
      if (isPending(deletion.id)) return;
      store.set([...store.getSnapshot(), deletion]);
      start(deletion.id);
    },
    undo(id) {
      if (isWaiting(id)) drop(id);
    },
    hold: stop,
    release(id) {
      if (isWaiting(id)) start(id);
    },
    carryOutAll() {
      for (const { id } of store.getSnapshot()) void carryOut(id, true);
    },
  };
}
