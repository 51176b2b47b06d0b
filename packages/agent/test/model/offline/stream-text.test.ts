import fc from "fast-check";
import { expect, test } from "vitest";
import { toArgumentDeltas, toTextGroups } from "../../../src/model/offline/stream-text.ts";

test("deltas are words with the blanks behind them, groups are sentences or 64 characters", () => {
  expect(toTextGroups("One two. Three\n\nfour")).toEqual([["One ", "two. "], ["Three\n\n"], ["four"]]);
  expect(toTextGroups("")).toEqual([]);
  expect(toTextGroups("\n\nHi")).toEqual([["\n\nHi"]]);
  for (const group of toTextGroups("word ".repeat(100))) expect(group.join("").length).toBeLessThanOrEqual(70);
});

test("words without blanks come in small pieces", () => {
  const deltas = toTextGroups("這是一個沒有空白的很長的句子，它應該分成幾段。").flat();
  expect(deltas.length).toBeGreaterThan(3);
  for (const delta of deltas) expect(delta.length).toBeLessThanOrEqual(9);
});

test("joined they are the text, and no surrogate pair is cut", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), (text) => {
      const deltas = toTextGroups(text).flat();
      expect(deltas.join("")).toBe(text);
      for (const delta of deltas) expect(delta).not.toBe("");
      for (const delta of deltas) expect(delta.isWellFormed()).toBe(true);
      const pieces = toArgumentDeltas(JSON.stringify(text));
      expect(pieces.join("")).toBe(JSON.stringify(text));
      for (const piece of pieces) expect(piece.isWellFormed()).toBe(true);
    }),
  );
});
