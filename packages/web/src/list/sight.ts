/** What of a list is in sight, for what is drawn inside its rows. */
import { createContext } from "preact";

/** Part of an element, in pixels from its top. Above the element both are negative. */
export interface Span {
  readonly top: number;
  readonly bottom: number;
}

export interface Sight {
  /** Returns true if the list draws all of an element, because the list is short or the row has a match. */
  readonly isWhole: (element: HTMLElement | null) => boolean;
  /** Calls the watcher when what is in sight may have changed. Returns the function that ends this. */
  readonly watch: (watcher: () => void) => () => void;
  /** Which part of an element is in sight; undefined before the list is drawn. Forces a layout. */
  readonly toSpan: (element: HTMLElement) => Span | undefined;
  /** To be called when sizes have changed: what the user reads stays where it is. */
  readonly keepPlace: () => void;
}

/** Undefined outside of lists. */
export const SightContext = createContext<Sight | undefined>(undefined);
