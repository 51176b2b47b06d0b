import { createContext } from "preact";
import { useContext, useMemo, useState } from "preact/hooks";

/** Values that the user unfolded or chose, by key. They outlive the elements of a long list. */
export const RememberedValues = createContext<Map<string, unknown>>(new Map());

/** Works like `useState`, with a value that outlives the element while the conversation is open. */
export function useRemembered<Value>(key: string, initial: Value): readonly [Value, (value: Value) => void] {
  const values = useContext(RememberedValues);
  const [, redraw] = useState(0);
  const value = values.has(key) ? (values.get(key) as Value) : initial;
  const change = (next: Value): void => {
    values.set(key, next);
    redraw((count) => count + 1);
  };
  return [value, change];
}

/** Keys of the row with the current search result, and of its parts. All their contents are unfolded. */
export const FoundRows = createContext<readonly string[]>([]);

/** Returns true if the key belongs to a row with a search result, or to a part of it. */
export function useIsFound(key: string): boolean {
  return useContext(FoundRows).some((row) => key === row || key.startsWith(`${row}/`));
}

/** Returns true if the user has unfolded the element, or if it contains a search result. */
export function useUnfolded(key: string): readonly [boolean, (isUnfolded: boolean) => void] {
  const [isUnfolded, setUnfolded] = useRemembered(key, false);
  const isFound = useIsFound(key);
  return [isUnfolded || isFound, setUnfolded];
}

/** Number of kept values: more than are ever in sight. */
const mostKept = 64;

/** Returns an expensive value, made once for each recently used key while the conversation is open. */
export function useKept<Value>(key: string, create: () => Value): Value {
  const values = useContext(RememberedValues);
  return useMemo(() => {
    const kept = (values.get("kept") ?? new Map<string, unknown>()) as Map<string, unknown>;
    values.set("kept", kept);
    const value = (kept.get(key) as Value | undefined) ?? create();
    kept.delete(key);
    kept.set(key, value);
    for (const oldest of kept.keys()) if (kept.size > mostKept) kept.delete(oldest);
    return value;
  }, [values, key]);
}
