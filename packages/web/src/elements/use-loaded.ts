import { useEffect, useState } from "preact/hooks";

/** What a promise has brought, for the newest of these inputs; until then what an earlier one brought, or `initial`. */
export function useLoaded<Value>(
  load: () => Promise<Value>,
  inputs: readonly unknown[],
  initial?: Value,
): Value | undefined {
  const [loaded, setLoaded] = useState(() => initial);
  useEffect(() => {
    let isWanted = true;
    void load().then((value) => (isWanted ? setLoaded(() => value) : undefined));
    return () => {
      isWanted = false;
    };
  }, inputs);
  return loaded;
}
