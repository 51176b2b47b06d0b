/** Keeps what the user reads where it is, while what is above it changes its height. */

export interface PlaceKeeper {
  /** Remembers what is at the top of the scroller. */
  readonly mark: (scroller: HTMLElement) => void;
  /** Scrolls by as much as that has moved since. */
  readonly restore: (scroller: HTMLElement) => void;
}

export function createPlaceKeeper(): PlaceKeeper {
  /** `top` is the distance from the beginning of what scrolls, so that scrolling does not change it. */
  let place: { readonly element: Element; readonly top: number } | undefined;
  const toTop = (element: Element, scroller: HTMLElement): number =>
    element.getBoundingClientRect().top - scroller.getBoundingClientRect().top + scroller.scrollTop;
  return {
    mark(scroller) {
      const element = findTopmost(scroller);
      place = element && { element, top: toTop(element, scroller) };
    },
    restore(scroller) {
      if (place === undefined || !place.element.isConnected) return;
      const top = toTop(place.element, scroller);
      if (Math.abs(top - place.top) < 0.5) return;
      scroller.scrollTop += top - place.top;
      place = { ...place, top };
    },
  };
}

/** The smallest row or part at the upper edge of the scroller; if none is there, the first one below. */
function findTopmost(scroller: HTMLElement): Element | undefined {
  const edge = scroller.getBoundingClientRect().top;
  let found: Element | undefined;
  for (const element of scroller.querySelectorAll("[data-key], [data-part]")) {
    const { top, bottom } = element.getBoundingClientRect();
    if (bottom <= edge) continue;
    // A part below the edge, in a row that begins above it, moves with what is drawn between.
    if (found !== undefined && (top > edge || !found.contains(element))) break;
    found = element;
  }
  return found;
}
