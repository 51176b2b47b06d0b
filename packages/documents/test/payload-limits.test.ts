import { Buffer } from "node:buffer";
import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { cutToPayload, cutToUtf8, toPayloadPieces, toUtf8Length } from "../src/payload-limits.ts";

const wellFormed = fc.string({ unit: "binary" }).filter((text) => text.isWellFormed());

test(verifies("N55", "sizes are bytes of UTF-8"), () => {
  fc.assert(fc.property(wellFormed, (text) => toUtf8Length(text) === Buffer.byteLength(text)));
  expect(toUtf8Length("aé世🙂")).toBe(10);
});

test(verifies("N55", "a cut leaves the longest whole beginning"), () => {
  fc.assert(
    fc.property(wellFormed, fc.nat({ max: 40 }), (text, max) => {
      const beginning = cutToUtf8(text, max);
      expect(text.startsWith(beginning)).toBe(true);
      expect(beginning.isWellFormed()).toBe(true);
      expect(Buffer.byteLength(beginning)).toBeLessThanOrEqual(max);
      const next = String.fromCodePoint(text.codePointAt(beginning.length) ?? 0x20);
      if (beginning.length < text.length) expect(Buffer.byteLength(beginning + next)).toBeGreaterThan(max);
    }),
  );
});

test.each([["plain"], ["\u0001"], ["🙂"], ['"\\'], ["é"], ["世"], ["\ud800"], ["x🙂"]])(
  verifies("N55", "a megabyte of %j travels in pieces that fit"),
  (unit) => {
    const text = unit.repeat(Math.ceil((1024 * 1024) / unit.length));
    const pieces = toPayloadPieces(text);
    expect(pieces.join("")).toBe(text);
    for (const piece of pieces) {
      expect(Buffer.byteLength(JSON.stringify({ documentId: "doc_001", delta: piece }))).toBeLessThanOrEqual(
        256 * 1024,
      );
      expect(piece.isWellFormed()).toBe(text.isWellFormed());
    }
    expect(cutToPayload(text)).toBe(pieces[0]);
  },
);

test("nothing is one piece of nothing at all", () => {
  expect(toPayloadPieces("")).toEqual([]);
  expect(toPayloadPieces("abc")).toEqual(["abc"]);
});
