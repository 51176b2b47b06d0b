/** A state that changes, and listeners that are called at most once per frame. */
import { useEffect, useState } from "preact/hooks";

export interface Store<State> {
  readonly get: () => State;
  /** Calls the listener after changes. Returns the function that ends this. */
  readonly subscribe: (listener: () => void) => () => void;
}

export interface WritableStore<State> extends Store<State> {
  /** Calls the listeners immediately. */
  readonly set: (state: State) => void;
}

export function createStore<State>(initial: State): WritableStore<State> {
  let state = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => state,
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
export function useStore<State>(store: Store<State>): State {
  const [, redraw] = useState({});
  useEffect(() => {
    redraw({});
    return store.subscribe(() => redraw({}));
  }, [store]);
  return store.get();
}

/** Milliseconds between two frames of a hidden page. */
const hiddenInterval = 250;

/** Runs `work` in the next frame, however often it is called before. A hidden page has no frames, so a timer runs it. */
export function createFrameScheduler(work: () => void): { readonly request: () => void; readonly cancel: () => void } {
  let cancelPending: (() => void) | undefined;
  const run = (): void => {
    cancelPending?.();
    cancelPending = undefined;
    work();
  };
  return {
    request() {
      if (cancelPending !== undefined) return;
      const frame = requestAnimationFrame(run);
      const timer = setTimeout(run, hiddenInterval);
      cancelPending = () => {
        cancelAnimationFrame(frame);
        clearTimeout(timer);
      };
    },
    cancel() {
      cancelPending?.();
      cancelPending = undefined;
    },
  };
}
