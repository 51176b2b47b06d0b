import fc from "fast-check";
import { expect, test } from "vitest";
import { createRowMeasures } from "../../src/list/row-measures.ts";

interface SizedRow {
  readonly key: string;
  readonly size: number;
}

const rows = (count: number): SizedRow[] =>
  Array.from({ length: count }, (_, index) => ({ key: `${index}`, size: 10 }));

test("measured heights count, the others are estimated", () => {
  const measures = createRowMeasures<SizedRow>(({ size }) => size);
  const all = rows(4);
  measures.update(all);
  expect(measures.measure("1", 25)).toBe(15);
  expect([0, 1, 2, 3, 4].map((index) => measures.toTop(index))).toEqual([0, 10, 35, 45, 55]);
  measures.update([...all, { key: "4", size: 7 }]);
  expect(measures.toTop(5)).toBe(62);
  expect(measures.measure("unknown", 5)).toBe(0);
});

test("a row that comes back keeps its height", () => {
  const measures = createRowMeasures<SizedRow>(({ size }) => size);
  const all = rows(3);
  measures.update(all);
  measures.measure("2", 40);
  measures.update(all.slice(0, 2));
  expect([measures.toTop(2), measures.toIndex("2")]).toEqual([20, undefined]);
  measures.update(all);
  expect(measures.toTop(3)).toBe(60);
});

test("any changes: tops are the sums, and the row at a height is found", () => {
  const change = fc.record({
    count: fc.integer({ min: 0, max: 12 }),
    first: fc.integer({ min: 0, max: 12 }),
    key: fc.integer({ min: 0, max: 12 }),
    height: fc.integer({ min: 1, max: 50 }),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 20 }), (changes) => {
      const measures = createRowMeasures<SizedRow>(({ size }) => size);
      const heights = new Map<string, number>();
      for (const { count, first, key, height } of changes) {
        const list = rows(count).map((row, index) => (index < first ? row : { ...row }));
        measures.update(list);
        if (key < count) {
          measures.measure(`${key}`, height);
          heights.set(`${key}`, height);
        }
        let top = 0;
        for (const [index, row] of list.entries()) {
          expect(measures.toTop(index)).toBe(top);
          expect(measures.findIndex(top)).toBe(index);
          top += heights.get(row.key) ?? 10;
          expect(measures.findIndex(top - 1)).toBe(index);
        }
        expect(measures.toTop(count)).toBe(top);
      }
    }),
  );
});
