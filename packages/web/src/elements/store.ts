/** A state that changes, and its listeners. */
import type { ReadableStore } from "@sheaf/client/chat";
import { useEffect, useState } from "preact/hooks";

export interface WritableStore<State> extends ReadableStore<State> {
  /** Calls the listeners immediately. */
  readonly set: (state: State) => void;
}

export function createStore<State>(initial: State): WritableStore<State> {
  let state = initial;
  const listeners = new Set<() => void>();
  return {
    getSnapshot: () => state,
    set(next) {
      state = next;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The state of a store in a component. */
export function useStore<State>(store: ReadableStore<State>): State {
  const [, redraw] = useState({});
  useEffect(() => {
    redraw({});
    return store.subscribe(() => redraw({}));
  }, [store]);
  return store.getSnapshot();
}
