import { createContext } from "preact";
import { useContext, useMemo, useState } from "preact/hooks";

/** What the user unfolded or chose, by key. It outlives elements of a long list that are not shown. */
export const RememberedValues = createContext<Map<string, unknown>>(new Map());

/** Like `useState`, but kept under a key while the conversation is shown. */
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

/** Keys of the row that has a match of the search, and of its parts. Everything in them is unfolded. */
export const FoundRows = createContext<readonly string[]>([]);

/** Returns true if the key is one of a row with a match, or of something in it. */
export function useIsFound(key: string): boolean {
  return useContext(FoundRows).some((row) => key === row || key.startsWith(`${row}/`));
}

/** Returns true if the person has unfolded something, or if the search has a match in it. */
export function useUnfolded(key: string): readonly [boolean, (isUnfolded: boolean) => void] {
  const [isUnfolded, setUnfolded] = useRemembered(key, false);
  const isFound = useIsFound(key);
  return [isUnfolded || isFound, setUnfolded];
}

/** So many are kept: more than are ever in sight. */
const mostKept = 64;

/** What is expensive to make, made once for each key while the conversation is shown and the key was used lately. */
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
