import { createTwoFilesPatch } from "diff";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { DiffLine } from "../../src/diff/diff-lines.ts";
import { divideGap, findHiddenLines, parseHunks } from "../../src/diff/hunks.ts";

const numbered = (count: number): string[] => Array.from({ length: count }, (_, index) => `line ${index + 1}`);

function toText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

function readAll(lines: readonly string[]): Map<number, DiffLine> {
  return new Map(lines.map((text, index) => [index + 1, { kind: "same", newNumber: index + 1, text }]));
}

test("hidden lines are before, between and after the hunks", () => {
  const old = numbered(40);
  const now = old.with(9, "LINE 10").toSpliced(20, 1, "a", "b", "c");
  const hunks = parseHunks(createTwoFilesPatch("a", "b", toText(old), toText(now), "", "", { context: 3 }));
  expect(findHiddenLines(hunks, undefined)).toEqual([
    { from: 1, to: 6, shift: 0 },
    { from: 14, to: 17, shift: 0 },
    { from: 27, shift: 2 },
  ]);
  expect(findHiddenLines(hunks, 42)[2]).toEqual({ from: 27, to: 42, shift: 2 });
});

test("nothing is hidden around a change of the whole file", () => {
  const hunks = parseHunks(createTwoFilesPatch("a", "b", "a\nb\n", "a\nc\n", "", "", { context: 3 }));
  expect(findHiddenLines(hunks, undefined)).toEqual([undefined, undefined]);
  const created = parseHunks(createTwoFilesPatch("/dev/null", "b", "", "a\nc\n", "", "", { context: 3 }));
  expect(findHiddenLines(created, undefined)).toEqual([undefined, undefined]);
});

test("lines are shown from both sides of a gap, until none is hidden", () => {
  const texts = readAll(numbered(30));
  const gap = { from: 5, to: 14, shift: 2 };
  const parts = divideGap(gap, { start: 3, end: 2 }, texts);
  expect(parts.start.map(({ oldNumber, newNumber }) => [oldNumber, newNumber])).toEqual([
    [3, 5],
    [4, 6],
    [5, 7],
  ]);
  expect(parts.end.map(({ text }) => text)).toEqual(["line 13", "line 14"]);
  expect(parts.hidden).toEqual({ from: 8, to: 12 });
  expect(divideGap(gap, { start: 8, end: 8 }, texts)).toMatchObject({ hidden: undefined });
});

test("a line that was not read is not shown, nor what follows it", () => {
  const texts = readAll(numbered(6));
  const parts = divideGap({ from: 5, to: 14, shift: 0 }, { start: 10, end: 0 }, texts);
  expect(parts.start.map(({ text }) => text)).toEqual(["line 5", "line 6"]);
  expect(parts.hidden).toEqual({ from: 7, to: 14 });
});

test("with every gap open, the hunks and the gaps are the whole of both files", () => {
  const texts = fc.array(fc.constantFrom("a", "b", "c", ""), { maxLength: 40 });
  fc.assert(
    fc.property(texts, texts, (old, now) => {
      const hunks = parseHunks(createTwoFilesPatch("a", "b", toText(old), toText(now), "", "", { context: 3 }));
      if (hunks.length === 0 || old.length === 0 || now.length === 0) return;
      const lines = readAll(now);
      const open = findHiddenLines(hunks, now.length).map((gap) =>
        gap === undefined ? [] : divideGap(gap, { start: 100, end: 0 }, lines).start,
      );
      const all = open.flatMap((gap, index) => [...gap, ...(hunks[index]?.lines ?? [])]);
      const side = (kind: "removed" | "added") => all.filter((line) => line.kind === "same" || line.kind === kind);
      expect(side("added").map(({ text }) => text)).toEqual(now);
      expect(side("removed").map(({ text }) => text)).toEqual(old);
      expect(side("removed").map(({ oldNumber }) => oldNumber)).toEqual(old.map((_, index) => index + 1));
    }),
  );
});
