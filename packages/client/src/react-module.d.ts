/** The parts of React that the hooks use, so that the package is built without React. */
declare module "react" {
  export function useEffect(effect: () => void | (() => void), dependencies?: readonly unknown[]): void;
  export function useMemo<Value>(create: () => Value, dependencies: readonly unknown[]): Value;
  export function useRef<Value>(initial: Value): { current: Value };
  export function useState<State>(
    initial: State | (() => State),
  ): [State, (state: State | ((before: State) => State)) => void];
  export function useSyncExternalStore<State>(
    subscribe: (listener: () => void) => () => void,
    getSnapshot: () => State,
    getServerSnapshot?: () => State,
  ): State;
}
