/** Positions of rows in a long list: measured heights, and estimates for rows that were never shown. */

export interface KeyedRow {
  readonly key: string | number;
}

export interface RowMeasures<Row extends KeyedRow> {
  /** Replaces the rows. This is cheap if the new list continues the previous one. */
  readonly update: (rows: readonly Row[]) => void;
  /** Sets a measured height. @returns the difference; 0 if the list lacks the key */
  readonly measure: (key: Row["key"], height: number) => number;
  /** Returns the pixels above a row; for the number of rows, the height of the whole list. */
  readonly toTop: (index: number) => number;
  readonly toHeight: (index: number) => number;
  readonly toIndex: (key: Row["key"]) => number | undefined;
  /** Returns the index of the row at a height. */
  readonly findIndex: (top: number) => number;
}

/** Creates the measures. @param estimate height in pixels of a row that was never measured */
export function createRowMeasures<Row extends KeyedRow>(estimate: (row: Row) => number): RowMeasures<Row> {
  const measured = new Map<Row["key"], number>();
  const indices = new Map<Row["key"], number>();
  let rows: readonly Row[] = [];
  const heights: number[] = [];
  const tops: number[] = [0];
  /** Index up to which the tops are correct. */
  let valid = 0;

  const validate = (index: number): void => {
    for (; valid < index; valid += 1) tops[valid + 1] = tops[valid]! + heights[valid]!;
  };

  return {
    update(next) {
      if (next === rows) return;
      let same = 0;
      while (same < next.length && same < rows.length && rows[same] === next[same]) same += 1;
      for (let index = same; index < rows.length; index += 1) indices.delete(rows[index]!.key);
      for (let index = same; index < next.length; index += 1) {
        const row = next[index]!;
        indices.set(row.key, index);
        heights[index] = measured.get(row.key) ?? estimate(row);
      }
      rows = next;
      heights.length = next.length;
      tops.length = Math.min(tops.length, next.length + 1);
      valid = Math.min(valid, same);
    },
    measure(key, height) {
      const index = indices.get(key);
      if (index === undefined) return 0;
      const difference = height - heights[index]!;
      measured.set(key, height);
      heights[index] = height;
      if (difference !== 0) valid = Math.min(valid, index);
      return difference;
    },
    toTop(index) {
      validate(index);
      return tops[index]!;
    },
    toHeight: (index) => heights[index]!,
    toIndex: (key) => indices.get(key),
    findIndex(top) {
      validate(rows.length);
      let low = 0;
      let high = rows.length - 1;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (tops[middle]! <= top) low = middle;
        else high = middle - 1;
      }
      return Math.max(0, low);
    },
  };
}
