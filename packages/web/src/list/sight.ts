/** The visible part of a list, for elements that draw only a part of their content. */
import { createContext } from "preact";

/** Part of an element, in pixels from its top. Above the element both are negative. */
export interface Span {
  readonly top: number;
  readonly bottom: number;
}

export interface Sight {
  /** Returns true if the list draws all of an element, because the list is short or the row has a match. */
  readonly isWhole: (element: HTMLElement | null) => boolean;
  /** Calls the watcher when the visible part may have changed. Returns a function that ends this. */
  readonly watch: (watcher: () => void) => () => void;
  /** Returns the visible part of an element; undefined before the list is drawn. Forces a layout. */
  readonly toSpan: (element: HTMLElement) => Span | undefined;
  /** Scrolls after sizes have changed, so that the text that the user reads doesn't move. */
  readonly keepPlace: () => void;
}

/** The list around an element; undefined outside of lists. */
export const SightContext = createContext<Sight | undefined>(undefined);
