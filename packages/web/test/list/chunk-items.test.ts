import { expect, test } from "vitest";
import { createItemChunker } from "../../src/list/chunk-items.ts";

const count = (length: number): object[] => Array.from({ length }, (_, index) => ({ index }));

test("a list that grows keeps the chunks that are full", () => {
  const items = count(100);
  const chunk = createItemChunker<object>();
  const before = chunk(items.slice(0, 85));
  expect(before.map(({ key, from, items: { length } }) => [key, from, length])).toEqual([
    [0, 0, 40],
    [1, 40, 40],
    [2, 80, 5],
  ]);
  const after = chunk(items);
  expect(after.map((each, index) => each === before[index])).toEqual([true, true, false]);
  expect(after.flatMap((each) => each.items)).toEqual(items);
});

test("another item makes another chunk, and an empty list has none", () => {
  const items = count(50);
  const chunk = createItemChunker<object>();
  const before = chunk(items);
  const after = chunk(items.with(3, {}));
  expect(after.map((each, index) => each === before[index])).toEqual([false, true]);
  expect(chunk([])).toEqual([]);
});
