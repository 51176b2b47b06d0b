import { useLayoutEffect, useRef } from "preact/hooks";

/** Distance from the end, in pixels, within which the user is at the end. */
const tolerance = 24;

/** Returns attributes that keep a growing element at its end, unless the user scrolled up. */
export function useFollowedEnd<Box extends HTMLElement>(isLive: boolean, length: number) {
  const ref = useRef<Box>(null);
  const isAtEnd = useRef(true);
  const onScroll = (): void => {
    // A removed box can still send its last event.
    if (ref.current === null) return;
    const { scrollHeight, scrollTop, clientHeight } = ref.current;
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < tolerance;
  };
  useLayoutEffect(() => {
    if (isLive && isAtEnd.current && ref.current !== null) ref.current.scrollTop = ref.current.scrollHeight;
  }, [isLive, length]);
  return { ref, onScroll };
}
