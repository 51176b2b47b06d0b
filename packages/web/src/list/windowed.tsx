import { createElement, type ComponentChildren, type VNode } from "preact";
import { useContext, useLayoutEffect, useState } from "preact/hooks";
import { Kept } from "./kept.tsx";
import { renderWindow } from "./render-window.tsx";
import type { RowMeasures } from "./row-measures.ts";
import { type Sight, SightContext } from "./sight.ts";
import { overscan } from "./use-virtual-list.ts";

/** A part of a long text or table. */
interface Part {
  readonly key: number;
}

/** Attributes of a part's element, with which the window finds and measures it. The part's key is the element's key. */
export interface PartMarks {
  readonly "data-part": number;
  readonly ref: (element: HTMLElement | null) => (() => void) | undefined;
}

interface WindowedProps<Item extends Part> {
  readonly as?: "div" | "code" | "table";
  readonly class?: string;
  readonly parts: readonly Item[];
  /** Heights of the parts. If you keep them longer than the element, it reuses them. */
  readonly measures: RowMeasures<Item>;
  readonly render: (part: Item, marks: PartMarks) => VNode;
  /** Returns the version of everything that the element shows apart from the part itself. */
  readonly toVersion?: (part: Item) => unknown;
  readonly renderSpace?: (key: string, height: number) => VNode;
  /** Attributes of the element around the parts. */
  readonly attributes?: { readonly "aria-rowcount"?: number };
  /** Content shown before and after the parts. */
  readonly before?: ComponentChildren;
  readonly after?: ComponentChildren;
}

/** Number of parts up to which all are drawn. */
const fewParts = 8;
/** Number of changes per frame. Drawn parts can turn out to have other sizes, which changes the visible range again. */
const changesPerFrame = 4;

/** The drawn range of the parts, kept outside of rendering. */
class PartWindow<Item extends Part> {
  element: HTMLElement | null = null;
  sight: Sight | undefined;
  readonly redraw: () => void;
  readonly #measures: RowMeasures<Item>;
  #from = 0;
  #to = 0;
  #count = 0;
  /** Parts that a selection reaches into. */
  #selected = { from: 0, to: 0 };
  /** Changes of the range since the last time it was stable. */
  #changes = 0;
  readonly #observer = new ResizeObserver(() => this.#takeSizes());

  constructor(measures: RowMeasures<Item>, redraw: () => void) {
    this.#measures = measures;
    this.redraw = redraw;
  }

  readonly take = (element: HTMLElement | null): void => {
    this.element = element;
  };

  readonly observe = (element: HTMLElement | null): (() => void) | undefined => {
    if (element === null) return undefined;
    this.#observer.observe(element);
    return () => this.#observer.unobserve(element);
  };

  /** Takes the parts and returns the indices of the parts to draw. */
  update(parts: readonly Item[]): readonly number[] {
    this.#measures.update(parts);
    const count = parts.length;
    const isGrown = this.#to === this.#count && count - this.#count <= fewParts;
    this.#to = isGrown ? count : Math.min(this.#to, count);
    this.#from = Math.min(this.#from, this.#to);
    this.#count = count;
    if (this.#isWhole()) {
      [this.#from, this.#to] = [0, count];
      return parts.map((_, index) => index);
    }
    const indices = Array.from({ length: this.#to - this.#from }, (_, index) => this.#from + index);
    const focused = this.#findFocused();
    if (focused >= 0 && focused < count) indices.push(focused);
    this.#selected = this.#findSelected();
    for (let index = this.#selected.from; index < Math.min(this.#selected.to, count); index += 1) indices.push(index);
    return [...new Set(indices)].toSorted((a, b) => a - b);
  }

  /** Draws all selected parts, so that the user copies all of them: a selection can reach far out of sight. */
  readonly checkSelection = (): void => {
    if (this.#isWhole()) return;
    const { from, to } = this.#findSelected();
    if (from !== this.#selected.from || to !== this.#selected.to) this.redraw();
  };

  /** Draws other parts if the visible range has changed. */
  readonly check = (): void => {
    this.sight?.keepPlace();
    if (this.#isWhole()) return this.#setRange(0, this.#count);
    this.#measure();
    const span = this.element === null ? undefined : this.sight?.toSpan(this.element);
    if (span === undefined) return;
    const from = this.#measures.findIndex(span.top - overscan);
    this.#setRange(from, Math.max(from, this.#measures.findIndex(span.bottom + overscan)) + 1);
  };

  disconnect(): void {
    this.#observer.disconnect();
  }

  #setRange(from: number, to: number): void {
    if (from === this.#from && to === this.#to) {
      this.#changes = 0;
      return;
    }
    [this.#from, this.#to] = [from, to];
    this.#changes += 1;
    if (this.#changes < changesPerFrame) this.redraw();
    else requestAnimationFrame(this.redraw);
  }

  /** Measures the drawn parts before the observer does: the next range depends on them. @returns true if any changed */
  #measure(): boolean {
    let hasChanged = false;
    for (const child of this.element?.children ?? []) {
      const { part } = (child as HTMLElement).dataset;
      if (part === undefined) continue;
      if (this.#measures.measure(Number(part), child.getBoundingClientRect().height) !== 0) hasChanged = true;
    }
    return hasChanged;
  }

  #isWhole(): boolean {
    return this.sight === undefined || this.sight.isWhole(this.element) || this.#count <= fewParts;
  }

  /** Returns the part with the focus, which must stay drawn to keep the focus; -1 without one. */
  #findFocused(): number {
    const { activeElement } = document;
    return activeElement === null ? -1 : this.#findPart(activeElement);
  }

  /** Returns the part that contains a node; -1 if no drawn part does. */
  #findPart(node: Node): number {
    if (!this.element?.contains(node)) return -1;
    const part = [...this.element.children].find((child) => child.contains(node));
    return this.#measures.toIndex(Number((part as HTMLElement | undefined)?.dataset["part"] ?? -1)) ?? -1;
  }

  /** Returns the selected range; `to` is after its last part. Empty if the selection has both ends elsewhere. */
  #findSelected(): { readonly from: number; readonly to: number } {
    const none = { from: 0, to: 0 };
    const selection = document.getSelection();
    if (!this.element || !selection || selection.isCollapsed || selection.rangeCount === 0) return none;
    const { startContainer, endContainer } = selection.getRangeAt(0);
    const [start, end] = [this.#findPart(startContainer), this.#findPart(endContainer)];
    if (start < 0 && end < 0) return none;
    return { from: Math.max(start, 0), to: end < 0 ? this.#count : end + 1 };
  }

  #takeSizes(): void {
    if (this.#isWhole() || !this.#measure()) return;
    this.sight?.keepPlace();
    this.redraw();
  }
}

/**
 * A long text or table inside a row of a list: only the parts near the visible range are elements. Outside of a
 * list, and in a short one, all parts are.
 */
export function Windowed<Item extends Part>(props: WindowedProps<Item>) {
  const { as = "div", parts, measures, render, toVersion, renderSpace, before, after } = props;
  const sight = useContext(SightContext);
  const [, setCount] = useState(0);
  const [state] = useState(() => new PartWindow(measures, () => setCount((count) => count + 1)));
  state.sight = sight;
  const indices = state.update(parts);
  useLayoutEffect(() => sight?.watch(state.check), [sight, state]);
  useLayoutEffect(() => {
    document.addEventListener("selectionchange", state.checkSelection);
    return () => {
      document.removeEventListener("selectionchange", state.checkSelection);
      state.disconnect();
    };
  }, [state]);
  useLayoutEffect(() => state.check());
  const toElement = (part: Item): VNode => render(part, { "data-part": part.key, ref: state.observe });
  const drawn = renderWindow(
    { measures, indices, count: parts.length, ...(renderSpace && { renderSpace }) },
    (index) => {
      const part = parts[index]!;
      return <Kept key={part.key} item={part} version={toVersion?.(part)} render={toElement} />;
    },
  );
  return createElement(as, { ...props.attributes, class: props.class, ref: state.take }, before, drawn, after);
}
