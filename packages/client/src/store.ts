/** A state and its listeners, in the shape that user interfaces subscribe to. */

/** A store for `useSyncExternalStore` of React and for other frameworks. The functions need no `this`. */
export interface ReadableStore<State> {
  /** Calls the listener after each change of the state. Returns the function that unsubscribes. */
  readonly subscribe: (listener: () => void) => () => void;
  /** Returns the same object until the next change. */
  readonly getSnapshot: () => State;
}

export interface WritableStore<State> extends ReadableStore<State> {
  /** Sets the state, and calls the listeners immediately. */
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
