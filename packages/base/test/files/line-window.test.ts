import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { LineWindow, type LineRange, type LineSelection } from "../../src/files/line-window.ts";

function select(pieces: readonly string[], range: Partial<LineRange>): LineSelection {
  const window = new LineWindow({ startLine: 1, maxLines: 1000, maxBytes: 1000, ...range });
  for (const piece of pieces) window.push(piece);
  return window.end();
}

test.each([
  ["all", {}, { text: "a\nb\nc\n", endLine: 4, isFull: false }],
  ["the first line", { maxLines: 1 }, { text: "a\n", endLine: 1 }],
  ["a line within", { startLine: 2, maxLines: 1 }, { text: "b\n", startLine: 2, endLine: 2 }],
  ["the empty tail", { startLine: 4 }, { text: "", startLine: 4, endLine: 4 }],
  ["behind the end", { startLine: 9 }, { text: "", startLine: 9 }],
  ["whole lines up to the byte limit", { maxBytes: 5 }, { text: "a\nb\n", endLine: 2, isFull: true, isLineCut: false }],
  ["a line that is too long alone", { maxBytes: 1 }, { text: "a", endLine: 1, isFull: true, isLineCut: true }],
])("%s", (_, range, expected) => {
  expect(select(["a\nb\nc\n"], range)).toMatchObject({ totalLines: 4, totalChars: 6, ...expected });
});

test("a cut never falls into a character", () => {
  expect(select(["aä€😀"], { maxBytes: 6 })).toMatchObject({ text: "aä€", isLineCut: true });
  expect(select(["aä€😀"], { maxBytes: 5 })).toMatchObject({ text: "aä" });
});

test("the pieces do not matter", () => {
  const line = fc.string({ unit: fc.constantFrom("a", "ü", "😀", "\n", "\r"), maxLength: 60 });
  fc.assert(
    fc.property(line, fc.array(fc.nat(60)), fc.nat(8), fc.nat(8), fc.nat(40), (text, cuts, start, lines, maxBytes) => {
      const range = { startLine: start + 1, maxLines: lines + 1, maxBytes: maxBytes + 4 };
      const offsets = [0, ...cuts.map((cut) => Math.min(cut, text.length)).toSorted((a, b) => a - b), text.length];
      const pieces = offsets.slice(1).map((end, index) => text.slice(offsets[index], end));
      // A decoder never gives half a pair.
      fc.pre(pieces.every((piece) => piece.isWellFormed()));
      const whole = select([text], range);
      const inPieces = select(pieces, range);
      expect({ ...inPieces, text: "" }).toEqual({ ...whole, text: "" });
      expect(inPieces.text).toBe(whole.text);
    }),
  );
});

test(verifies("C9", "windows one behind the other give the text again"), () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("a", "b", "\n"), maxLength: 40 }),
      fc.integer({ min: 1, max: 5 }),
      (text, maxLines) => {
        let joined = "";
        const { totalLines } = select([text], {});
        for (let startLine = 1; startLine <= totalLines; startLine += maxLines)
          joined += select([text], { startLine, maxLines }).text;
        expect(joined).toBe(text);
        expect(totalLines).toBe(text.split("\n").length);
      },
    ),
  );
});
