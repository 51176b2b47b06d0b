import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { toChangedLines, type TextRegion } from "../../src/tools/text-region.ts";

/** The text before, with the region put in from the text after. */
function apply(before: string, after: string, { start, endBefore, endAfter }: TextRegion): string {
  return before.slice(0, start) + after.slice(start, endAfter) + before.slice(endBefore);
}

const text = fc.string({ unit: fc.constantFrom("a", "b", "\n"), maxLength: 30 });

test.each([
  ["same", "same", "", ""],
  ["a\nb\nc\n", "a\nx\nc\n", "b\n", "x\n"],
  ["a\nb\n", "a\nb\nc\n", "", "c\n"],
  ["a\nb\nc\n", "a\nc\n", "b\n", ""],
  ["a\na\na\n", "a\na\n", "a\n", ""],
  ["", "new", "", "new"],
  ["old", "", "old", ""],
  ["a\nlast", "a\nlast!", "last", "last!"],
  ["xa\nb", "a\nb", "xa\n", "a\n"],
])("the changed lines of %j and %j", (before, after, oldText, newText) => {
  const region = toChangedLines(before, after);
  expect(before.slice(region.start, region.endBefore)).toBe(oldText);
  expect(after.slice(region.start, region.endAfter)).toBe(newText);
});

test(verifies("N31", "changed lines are one exact replacement, and begin with a line"), () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const region = toChangedLines(before, after);
      expect(apply(before, after, region)).toBe(after);
      if (before !== after) expect(region.start === 0 || before[region.start - 1] === "\n").toBe(true);
    }),
  );
});
