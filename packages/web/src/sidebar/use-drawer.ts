import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { listen } from "../elements/listen.ts";

/** The sidebar of a narrow page. It covers everything else, which is inert meanwhile. */
export interface Drawer {
  readonly isShown: boolean;
  readonly show: () => void;
  readonly hide: () => void;
  /** Element of the sidebar. */
  readonly frame: RefObject<HTMLElement | null>;
}

/** The width of a narrow page, which `styles/layout.css` repeats. */
const narrow = "(max-width: 800px)";

/** Moves the focus into the drawer and back. Escape and a wider page close it. */
export function useDrawer(): Drawer {
  const [isShown, setShown] = useState(false);
  const frame = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    if (!isShown) return undefined;
    const before = document.activeElement;
    frame.current?.querySelector<HTMLElement>("button")?.focus();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, [isShown]);
  useEffect(() => {
    if (!isShown) return undefined;
    const media = matchMedia(narrow);
    const hideIfWide = (): void => {
      if (!media.matches) setShown(false);
    };
    const hideOnEscape = (event: KeyboardEvent): void => {
      // An open menu or dialog handles the key first.
      if (event.key === "Escape" && !event.defaultPrevented && document.querySelector("dialog[open]") === null) {
        setShown(false);
      }
    };
    const stops = [listen(media, ["change"], hideIfWide), listen(document, ["keydown"], hideOnEscape)];
    return () => stops.forEach((stop) => stop());
  }, [isShown]);
  return useMemo(() => ({ isShown, show: () => setShown(true), hide: () => setShown(false), frame }), [isShown]);
}
