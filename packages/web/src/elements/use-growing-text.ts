import { useEffect, useRef, useState } from "preact/hooks";

/** UTF-16 units read per millisecond at most: all of 60 kB in each frame, all of 1 MB four times a second. */
const pace = 4000;

/**
 * Returns a growing text, at intervals that grow with it. Each reading of an added piece makes the engine join all
 * pieces to a new string, so a long text read in each frame would fill the memory with copies.
 */
export function useGrowingText(text: string, isOpen: boolean): string {
  const taken = useRef({ text, at: 0 });
  const [, redraw] = useState(0);
  const now = performance.now();
  const wait = isOpen ? taken.current.at + text.length / pace - now : 0;
  if (wait <= 0) taken.current = { text, at: now };
  const isBehind = taken.current.text.length !== text.length;
  useEffect(() => {
    if (!isBehind) return undefined;
    const timer = setTimeout(() => redraw((count) => count + 1), wait);
    return () => clearTimeout(timer);
  });
  return taken.current.text;
}
