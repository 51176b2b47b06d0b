/** Returns the length, in UTF-16 units, to which texts must be cut so that all of them fit. */
export function findLongest(texts: readonly string[], maxUnits: number): number {
  let left = maxUnits;
  const lengths = texts.map(({ length }) => length).toSorted((one, other) => one - other);
  for (const [index, length] of lengths.entries()) {
    const share = Math.max(0, left) / (lengths.length - index);
    if (length > share) return Math.floor(share);
    left -= length;
  }
  return Infinity;
}
