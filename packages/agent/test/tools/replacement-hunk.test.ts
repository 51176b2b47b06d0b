import { structuredPatch } from "diff";
import fc from "fast-check";
import { expect, test } from "vitest";
import { toReplacementHunk } from "../../src/tools/text-region.ts";
import { chooseRuns } from "../../../../test/support/soak.ts";

const compare = (before: string, after: string) =>
  structuredPatch("", "", before, after, undefined, undefined, { context: 3 }).hunks;

const lineEnd = fc.constantFrom("\n", "\n", "\r\n");
const line = fc
  .tuple(fc.constantFrom("a", "b", "c", "d", "", "\r", "long\u2028line"), lineEnd)
  .map((parts) => parts.join(""));
const text = fc.array(line, { maxLength: 12 }).map((lines) => lines.join(""));

test("is what comparing all lines gives, or nothing", () => {
  const numRuns = chooseRuns(5000);
  let found = 0;
  fc.assert(
    fc.property(text, text, text, text, (start, end, before, after) => {
      const [old, next] = [start + before + end, start + after + end];
      fc.pre(old !== next);
      const hunk = toReplacementHunk(old, next, 3);
      if (!hunk) return;
      found += 1;
      expect([hunk]).toEqual(compare(old, next));
    }),
    { numRuns },
  );
  expect(found).toBeGreaterThan(numRuns / 25);
});

test("is found for an edit in the middle, an insertion, a removal, a new end", () => {
  const lines = Array.from({ length: 20 }, (_, index) => `line ${index}\n`);
  const join = (...parts: readonly string[]): string => parts.join("");
  const before = join(...lines);
  for (const after of [
    join(...lines.slice(0, 9), "new\n", ...lines.slice(10)),
    join(...lines.slice(0, 9), "new\n", ...lines.slice(9)),
    join(...lines.slice(0, 9), ...lines.slice(12)),
    join(...lines, "new\n"),
    join("new\n", ...lines),
    "",
  ]) {
    expect([toReplacementHunk(before, after, 3)]).toEqual(compare(before, after));
    expect([toReplacementHunk(after, before, 3)]).toEqual(compare(after, before));
  }
});

test("is left to the comparison where lines come again, nothing changes, or the last one has no end", () => {
  expect(toReplacementHunk("a\n", "a\n", 3)).toBeUndefined();
  expect(toReplacementHunk("a\nb\nc\n", "c\nb\na\n", 3)).toBeUndefined();
  expect(toReplacementHunk("a\nb\n", "c\nb\nb\n", 3)).toBeUndefined();
  expect(toReplacementHunk("a\nb", "a\nc\n", 3)).toBeUndefined();
});
