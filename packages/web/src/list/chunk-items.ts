/** Cuts a list that may grow into parts, so that only those in sight need to be elements. */

export interface ItemChunk<Item> {
  /** Position among the chunks. */
  readonly key: number;
  /** Index of its first item. */
  readonly from: number;
  readonly items: readonly Item[];
}

/** Items of a chunk. */
const chunkSize = 40;

/** The result keeps chunks whose items are the same. */
export function createItemChunker<Item>(): (items: readonly Item[]) => readonly ItemChunk<Item>[] {
  let known: readonly ItemChunk<Item>[] = [];
  return (items) => {
    known = Array.from({ length: Math.ceil(items.length / chunkSize) }, (_, key) => {
      const from = key * chunkSize;
      const part = items.slice(from, from + chunkSize);
      const before = known[key];
      const isSame = before?.items.length === part.length && part.every((item, index) => item === before.items[index]);
      return isSame ? before : { key, from, items: part };
    });
    return known;
  };
}
