import { useEffect, useState } from "preact/hooks";

/** Returns the result of a promise for the newest inputs; until then the result for earlier inputs, or `initial`. */
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
