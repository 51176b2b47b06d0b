/** Divides a growing list into parts, so that only the visible ones need to be elements. */

export interface ItemChunk<Item> {
  /** Position among the chunks. */
  readonly key: number;
  /** Index of its first item. */
  readonly from: number;
  readonly items: readonly Item[];
}

/** Number of items in a chunk. */
const chunkSize = 40;

/** Creates a chunker, which returns the same chunk as before for the same items. */
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
