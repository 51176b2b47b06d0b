/** Deletions that wait for a while before they start, so that an undo needs no request. */
import { createStore, type ReadableStore } from "@sheaf/client/chat";

export interface PendingDeletion {
  readonly id: string;
  readonly title: string;
  /** True if the request is under way: an undo is too late. */
  readonly isSent?: true;
}

export interface DeletionPorts {
  /** Deletes a conversation. `isLeaving`: the page ends, and the request must outlive it. */
  readonly remove: (id: string, isLeaving: boolean) => Promise<void>;
  /** Calls `then` after a time. Returns a function that cancels this. */
  readonly wait: (milliseconds: number, then: () => void) => () => void;
  readonly onEnd: (id: string) => void;
  readonly onFailure: (error: unknown) => void;
}

export interface Deletions extends ReadableStore<readonly PendingDeletion[]> {
  readonly add: (deletion: PendingDeletion) => void;
  /** Cancels a deletion whose request hasn't started. */
  readonly undo: (id: string) => void;
  /** Stops the time while the user is at the button. */
  readonly hold: (id: string) => void;
  /** Restarts the time. */
  readonly release: (id: string) => void;
  /** Starts all waiting deletions now, because the page ends. */
  readonly carryOutAll: () => void;
}

/** Milliseconds for an undo. */
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
