/** Maps a growing list, each item once. Without a change, it returns the same array as before. */
export function createIncrementalMap<Item, Value>(
  toValue: (item: Item, index: number) => Value,
): (items: readonly Item[]) => readonly Value[] {
  let items: readonly Item[] = [];
  let values: readonly Value[] = [];
  return (next) => {
    if (next.length === items.length && next.every((item, index) => item === items[index])) return values;
    values = next.map((item, index) => (item === items[index] ? values[index]! : toValue(item, index)));
    items = next;
    return values;
  };
}
