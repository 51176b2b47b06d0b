import { useLayoutEffect, useRef } from "preact/hooks";

/** Pixels. A user this close to the end is at the end. */
const tolerance = 24;

/** Keeps an element that scrolls at its end while it grows, unless the user scrolled up. Attributes for it. */
export function useFollowedEnd<Box extends HTMLElement>(isLive: boolean, length: number) {
  const ref = useRef<Box>(null);
  const isAtEnd = useRef(true);
  const onScroll = (): void => {
    // The event of a box that has just gone.
    if (ref.current === null) return;
    const { scrollHeight, scrollTop, clientHeight } = ref.current;
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < tolerance;
  };
  useLayoutEffect(() => {
    if (isLive && isAtEnd.current && ref.current !== null) ref.current.scrollTop = ref.current.scrollHeight;
  }, [isLive, length]);
  return { ref, onScroll };
}
