import { useEffect, useState } from "preact/hooks";

/** Returns the milliseconds since 1970, every second until a moment. */
export function useNow(until = Infinity): number {
  const [now, setNow] = useState(() => Date.now());
  const isRunning = now < until;
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [isRunning]);
  return now;
}
