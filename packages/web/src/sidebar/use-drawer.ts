import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { listen } from "../elements/listen.ts";

/** The sidebar of a narrow page: over everything else, which is inert meanwhile. */
export interface Drawer {
  readonly isShown: boolean;
  readonly show: () => void;
  readonly hide: () => void;
  /** Its element. */
  readonly frame: RefObject<HTMLElement | null>;
}

/** As in `styles/layout.css`. */
const narrow = "(max-width: 800px)";

/** Moves the focus into the drawer and back; Escape closes it, and so does a page that becomes wide. */
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
      // An open menu or dialog takes it first.
      if (event.key === "Escape" && !event.defaultPrevented && document.querySelector("dialog[open]") === null) {
        setShown(false);
      }
    };
    const stops = [listen(media, ["change"], hideIfWide), listen(document, ["keydown"], hideOnEscape)];
    return () => stops.forEach((stop) => stop());
  }, [isShown]);
  return useMemo(() => ({ isShown, show: () => setShown(true), hide: () => setShown(false), frame }), [isShown]);
}
