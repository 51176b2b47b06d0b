import type { VNode } from "preact";

/** Elements of what is drawn. The same element is not compared again; one that is no longer drawn is forgotten. */
export interface ElementKeeper<Item> {
  /** Begins a drawing. */
  readonly start: () => void;
  /** The element of an item: as in the last drawing with the same version, or new. */
  readonly take: (item: Item, render: (item: Item) => VNode, version?: unknown) => VNode;
}

interface KeptElement {
  readonly element: VNode;
  readonly version: unknown;
}

export function createElementKeeper<Item>(): ElementKeeper<Item> {
  let known = new Map<Item, KeptElement>();
  let drawn = new Map<Item, KeptElement>();
  return {
    start() {
      known = drawn;
      drawn = new Map();
    },
    take(item, render, version) {
      const before = known.get(item);
      const kept = before?.version === version && before !== undefined ? before : { element: render(item), version };
      drawn.set(item, kept);
      return kept.element;
    },
  };
}
