import type { RefObject } from "preact";
import { useImperativeHandle, useLayoutEffect, useRef, useState } from "preact/hooks";
import { createPlaceKeeper } from "./place-keeper.ts";
import { createRowMeasures, type KeyedRow, type RowMeasures } from "./row-measures.ts";
import type { Sight, Span } from "./sight.ts";

export interface VirtualListHandle {
  /** Shows the row with this key and gives it the focus. */
  readonly goTo: (key: string) => void;
  readonly goToEnd: () => void;
  /** Shows the row with this key and draws all of it until the next call, which may have an undefined key. */
  readonly reveal: (key: string | undefined) => void;
}

/** A row of the whole list; its key is unique in the page. */
export interface ListRow extends KeyedRow {
  readonly key: string;
}

export interface VirtualListOptions<Row extends ListRow> {
  readonly rows: readonly Row[];
  readonly estimate: (row: Row) => number;
  readonly handle: RefObject<VirtualListHandle | null>;
  /** Called when the list starts or ends following its end. */
  readonly onFollow: (isFollowing: boolean) => void;
}

/** Pixels above and below the visible part in which rows are already elements. */
export const overscan = 600;
/** Limits in rows, pixels and elements up to which the whole list is drawn, so that find-in-page works. */
const wholeLimit = { rows: 60, height: 20_000, elements: 600 };
/** Pixels from the end within which the list is at its end. */
const endTolerance = 48;

/** The state of a virtual list, kept outside of rendering. */
class ListController<Row extends ListRow> implements Sight {
  readonly measures: RowMeasures<Row>;
  scroller: HTMLElement | null = null;
  isFollowing = true;
  /** Key of the row in the tab order. */
  focusedKey: string | undefined;
  hasFocus = false;
  /** Key of a row that gets the focus once it is drawn. */
  wantedKey: string | undefined;
  /** Key of a row that is drawn completely at any place. */
  revealedKey: string | undefined;
  redraw: () => void = () => undefined;
  onFollow: (isFollowing: boolean) => void = () => undefined;
  /** Read only when it changes, because reading it forces a layout. */
  #viewport = { top: 0, height: 0 };
  #rows: readonly Row[] = [];
  /** True if rows, sizes or the drawn range differ from the last drawing. */
  #hasChanged = false;
  /** Height of the whole list when it was last scrolled to its end. */
  #end = 0;
  #from = 0;
  #to = 0;
  /** True if every row is drawn. */
  #isWhole = true;
  /** True if the whole list had too many elements. */
  #isLong = false;
  readonly #place = createPlaceKeeper();
  readonly #watchers = new Set<() => void>();
  readonly #observer = new ResizeObserver((entries) => this.#takeSizes(entries));

  constructor(estimate: (row: Row) => number) {
    this.measures = createRowMeasures(estimate);
  }

  readonly observe = (element: HTMLElement | null): (() => void) | undefined => {
    if (element === null) return undefined;
    this.#observer.observe(element);
    return () => this.#observer.unobserve(element);
  };

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  readonly toSpan = (element: HTMLElement): Span | undefined => {
    if (this.scroller === null) return undefined;
    const outer = this.scroller.getBoundingClientRect();
    const inner = element.parentElement!.getBoundingClientRect();
    const { top } = element.getBoundingClientRect();
    return { top: Math.max(outer.top, inner.top) - top, bottom: Math.min(outer.bottom, inner.bottom) - top };
  };

  readonly isWhole = (element: HTMLElement | null): boolean =>
    this.#isWhole || (this.revealedKey !== undefined && toRowKey(element) === this.revealedKey);

  readonly keepPlace = (): void => {
    if (this.scroller === null) return;
    if (this.isFollowing) return this.#followEnd();
    this.#place.restore(this.scroller);
    this.#viewport = { ...this.#viewport, top: this.scroller.scrollTop };
  };

  /** Takes the rows and returns the indices of the rows to draw. */
  update(rows: readonly Row[]): readonly number[] {
    const [from, to] = [this.#from, this.#to];
    if (rows !== this.#rows) this.#hasChanged = true;
    this.#rows = rows;
    this.measures.update(rows);
    this.#setRange();
    if (from !== this.#from || to !== this.#to) this.#hasChanged = true;
    const indices = Array.from({ length: this.#to - this.#from }, (_, index) => this.#from + index);
    for (const key of [this.hasFocus ? this.focusedKey : undefined, this.wantedKey, this.revealedKey]) {
      const index = key === undefined ? undefined : this.measures.toIndex(key);
      if (index !== undefined && (index < this.#from || index >= this.#to)) indices.push(index);
    }
    return [...new Set(indices)].toSorted((a, b) => a - b);
  }

  /** Handles scrolling of the list, or of an element inside it. */
  readonly onScroll = ({ target }: Event): void => {
    const { scroller } = this;
    if (scroller === null) return;
    if (target !== scroller) return this.#tellWatchers();
    const { scrollTop, scrollHeight, clientHeight } = scroller;
    const isAtEnd = scrollHeight - scrollTop - clientHeight < endTolerance;
    // Rows that grow move the list away from its end; only scrolling up means that the user left it.
    this.#setFollowing(isAtEnd || (this.isFollowing && scrollTop >= this.#viewport.top - 1));
    this.#viewport = { top: scrollTop, height: clientHeight };
    this.#markPlace();
    const [from, to] = [this.#from, this.#to];
    this.#setRange();
    if (from !== this.#from || to !== this.#to) this.redraw();
    this.#tellWatchers();
  };

  readonly onFocusIn = (event: FocusEvent): void => {
    const key = toRowKey(event.target);
    this.hasFocus = true;
    if (key === undefined || key === this.focusedKey) return;
    this.focusedKey = key;
    this.redraw();
  };

  readonly onFocusOut = (): void => {
    this.hasFocus = false;
  };

  /** Page keys on a row move to its neighbours, as in feeds; inside a row they scroll. */
  readonly onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === "PageDown" ? 1 : event.key === "PageUp" ? -1 : 0;
    const element = event.target as HTMLElement;
    if (step === 0 || element.dataset["key"] === undefined) return;
    const index = this.measures.toIndex(element.dataset["key"]);
    const next = index === undefined ? undefined : this.#rows[index + step];
    if (next === undefined) return;
    event.preventDefault();
    this.goTo(next.key);
  };

  readonly goTo = (key: string): void => {
    const index = this.measures.toIndex(key);
    if (index === undefined || this.scroller === null) return;
    this.wantedKey = key;
    this.focusedKey = key;
    this.#setFollowing(false);
    this.scroller.scrollTop = this.measures.toTop(index);
    this.#viewport = { ...this.#viewport, top: this.scroller.scrollTop };
    this.redraw();
  };

  readonly reveal = (key: string | undefined): void => {
    this.revealedKey = key;
    if (key !== undefined) this.goTo(key);
    else this.redraw();
  };

  readonly goToEnd = (): void => {
    this.#setFollowing(true);
    this.#toEnd();
  };

  /** Moves the list to its end or the focus to the wanted row, after each drawing. */
  settle(): void {
    if (this.wantedKey !== undefined && this.scroller !== null) {
      const element = this.#findElement(this.wantedKey);
      if (element !== undefined) {
        this.wantedKey = undefined;
        // A user who searches keeps typing in the search field.
        if (this.revealedKey !== element.dataset["key"]) element.focus({ preventScroll: true });
        element.scrollIntoView({ block: "start" });
        // No scrolling reports that the end of a short list is visible.
        const { scrollHeight, clientHeight } = this.scroller;
        if (scrollHeight - clientHeight < endTolerance) this.#setFollowing(true);
        this.#markPlace();
      }
    }
    if (!this.isFollowing || this.#hasChanged) this.keepPlace();
    this.#hasChanged = false;
    if (this.#isWhole && !this.#isLong && this.#countElements() > wholeLimit.elements) {
      this.#isLong = true;
      this.redraw();
    }
    this.#tellWatchers();
  }

  /** Starts to watch the scrolling element. */
  start(scroller: HTMLElement): void {
    this.scroller = scroller;
    this.#viewport = { top: scroller.scrollTop, height: scroller.clientHeight };
    this.#observer.observe(scroller);
  }

  disconnect(): void {
    this.#observer.disconnect();
  }

  /** Scrolls to the end, unless the user has just scrolled away and the event has not arrived yet. */
  #followEnd(): void {
    if (this.scroller === null) return;
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    // A list that became shorter makes the browser scroll back.
    const isLower = scrollHeight < this.#end;
    const isAway =
      !isLower && scrollHeight - scrollTop - clientHeight >= endTolerance && scrollTop < this.#viewport.top - 1;
    if (isAway) this.#setFollowing(false);
    else this.#toEnd();
  }

  #toEnd(): void {
    if (this.scroller === null) return;
    this.#end = this.scroller.scrollHeight;
    this.scroller.scrollTop = this.#end;
    this.#viewport = { top: this.scroller.scrollTop, height: this.scroller.clientHeight };
  }

  #findElement(key: string): HTMLElement | undefined {
    const rows = this.scroller?.querySelectorAll<HTMLElement>("[data-key]") ?? [];
    return [...rows].find(({ dataset }) => dataset["key"] === key);
  }

  #countElements(): number {
    return this.scroller?.getElementsByTagName("*").length ?? 0;
  }

  #markPlace(): void {
    if (!this.isFollowing && this.scroller !== null) this.#place.mark(this.scroller);
  }

  #tellWatchers(): void {
    for (const watcher of this.#watchers) watcher();
  }

  #setFollowing(isFollowing: boolean): void {
    if (isFollowing === this.isFollowing) return;
    this.isFollowing = isFollowing;
    this.#markPlace();
    this.onFollow(isFollowing);
  }

  #setRange(): void {
    const count = this.#rows.length;
    const end = this.measures.toTop(count);
    this.#isWhole = !this.#isLong && count <= wholeLimit.rows && end <= wholeLimit.height;
    if (this.#isWhole) {
      this.#from = 0;
      this.#to = count;
      return;
    }
    const { height } = this.#viewport;
    const top = this.isFollowing ? Math.max(0, end - height) : this.#viewport.top;
    this.#from = this.measures.findIndex(top - overscan);
    this.#to = Math.min(count, this.measures.findIndex(top + height + overscan) + 1);
  }

  #takeSizes(entries: readonly ResizeObserverEntry[]): void {
    const { scroller, measures } = this;
    if (scroller === null) return;
    let hasChanged = false;
    for (const { target, borderBoxSize } of entries) {
      if (target === scroller) {
        this.#viewport = { top: scroller.scrollTop, height: scroller.clientHeight };
        hasChanged = true;
        continue;
      }
      const key = (target as HTMLElement).dataset["key"];
      const [size] = borderBoxSize;
      if (key === undefined || size === undefined || !target.isConnected) continue;
      if (measures.measure(key, size.blockSize) !== 0) hasChanged = true;
    }
    if (!hasChanged) return;
    this.#hasChanged = true;
    this.keepPlace();
    this.redraw();
  }
}

/** Returns the key of the row that contains an element. */
function toRowKey(target: EventTarget | null): string | undefined {
  const row = target instanceof Element ? target.closest<HTMLElement>("[data-key]") : null;
  return row?.dataset["key"];
}

/** Passes the width of the scroll bar to the style sheet, so that elements below the list line up with it. */
function setGutter(scroller: HTMLElement | null): void {
  const width = scroller === null ? 0 : (scroller.offsetWidth - scroller.clientWidth) / 2;
  document.documentElement.style.setProperty("--gutter", `${width}px`);
}

export type { ListController };

/** Decides which rows are drawn, and follows the scroll position. */
export function useVirtualList<Row extends ListRow>(options: VirtualListOptions<Row>) {
  const { rows, estimate, handle, onFollow } = options;
  const [list] = useState(() => new ListController<Row>(estimate));
  const [, setCount] = useState(0);
  const scroller = useRef<HTMLDivElement>(null);
  list.redraw = () => setCount((count) => count + 1);
  list.onFollow = onFollow;
  const indices = list.update(rows);
  useImperativeHandle(handle, () => ({ goTo: list.goTo, goToEnd: list.goToEnd, reveal: list.reveal }), [list]);
  useLayoutEffect(() => {
    list.start(scroller.current!);
    setGutter(scroller.current);
    list.redraw();
    return () => list.disconnect();
  }, [list]);
  useLayoutEffect(() => list.settle());
  return { list, indices, scroller };
}
