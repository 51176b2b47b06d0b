/** Prevents the text at the top of the scroller from moving when content above it changes its height. */

export interface PlaceKeeper {
  /** Remembers the element at the top of the scroller. */
  readonly mark: (scroller: HTMLElement) => void;
  /** Scrolls by the distance that the element has moved since. */
  readonly restore: (scroller: HTMLElement) => void;
}

export function createPlaceKeeper(): PlaceKeeper {
  /** The remembered element. `top` is its distance from the top of the content, so scrolling doesn't change it. */
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

/** Returns the smallest row or part at the upper edge of the scroller; if none reaches it, the first one below. */
function findTopmost(scroller: HTMLElement): Element | undefined {
  const edge = scroller.getBoundingClientRect().top;
  let found: Element | undefined;
  for (const element of scroller.querySelectorAll("[data-key], [data-part]")) {
    const { top, bottom } = element.getBoundingClientRect();
    if (bottom <= edge) continue;
    // A part below the edge moves with the parts above it, if its row starts above the edge.
    if (found !== undefined && (top > edge || !found.contains(element))) break;
    found = element;
  }
  return found;
}
