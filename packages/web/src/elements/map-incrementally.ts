/** Maps a growing list: unchanged items are not mapped again. */

export interface IncrementalMap<Item, Value> {
  /** Values of the items, in order. The same array as before if no item changed. */
  readonly map: (items: readonly Item[]) => readonly Value[];
  /** Number of leading items that the last call found unchanged. */
  readonly unchanged: () => number;
}

export function createIncrementalMap<Item, Value>(
  toValue: (item: Item, index: number) => Value,
): IncrementalMap<Item, Value> {
  let items: readonly Item[] = [];
  let values: readonly Value[] = [];
  let same = 0;
  return {
    map(next) {
      same = 0;
      while (same < next.length && same < items.length && next[same] === items[same]) same += 1;
      if (same === next.length && same === items.length) return values;
      const before = items;
      const known = values;
      values = next.map((item, index) => (item === before[index] ? known[index]! : toValue(item, index)));
      items = next;
      return values;
    },
    unchanged: () => same,
  };
}
