/** The hook for React and compatible libraries. */
import type { ResponseState, ResponseStore } from "./response-store.ts";

/** What the hook needs from React; `preact/compat` has it too. */
export interface ReactLike {
  readonly useSyncExternalStore: <State>(
    subscribe: (listener: () => void) => () => void,
    getSnapshot: () => State,
    getServerSnapshot?: () => State,
  ) => State;
}

/** `const useResponse = createUseResponse(React)`; then `useResponse(store)` in a component returns the state. */
export function createUseResponse({ useSyncExternalStore }: ReactLike): (store: ResponseStore) => ResponseState {
  return ({ subscribe, getSnapshot }) => useSyncExternalStore(subscribe, getSnapshot, getSnapshot);
}
