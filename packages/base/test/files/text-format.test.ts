import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  countLines,
  decodeText,
  detectLineEnd,
  detectTextFormat,
  encodeText,
  type TextFormat,
  toLineEnd,
  toPrefix,
} from "../../src/files/text-format.ts";

const formats: readonly TextFormat[] = [
  { encoding: "utf-8", hasMark: false },
  { encoding: "utf-8", hasMark: true },
  { encoding: "utf-16le", hasMark: true },
  { encoding: "utf-16be", hasMark: true },
];

describe("formats", () => {
  test.each(formats)("$encoding, mark $hasMark: what is written is read again", (format) => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("a", "ü", "😀", "\r", "\n", "x") }), (text) => {
        const bytes = encodeText(text, format);
        expect(detectTextFormat(bytes)).toEqual(format);
        expect(decodeText(bytes, format)).toBe(text);
      }),
    );
  });

  test("bytes that are not valid have no text", () => {
    expect(decodeText(Buffer.from([0xff]), { encoding: "utf-8", hasMark: false })).toBeUndefined();
    expect(decodeText(Buffer.from([0xff, 0xfe, 0, 0xd8]), { encoding: "utf-16le", hasMark: true })).toBeUndefined();
  });

  test("a NUL behind the first 8 KiB does not count", () => {
    expect(detectTextFormat(Buffer.concat([Buffer.alloc(8192, "a"), Buffer.from([0])]))).toBeDefined();
    expect(detectTextFormat(Buffer.concat([Buffer.alloc(8191, "a"), Buffer.from([0])]))).toBeUndefined();
  });
});

test.each([
  ["", undefined, 0],
  ["a", undefined, 1],
  ["a\nb", "\n", 2],
  ["a\r\nb\r\n", "\r\n", 2],
  ["a\r\nb\n", "mixed", 2],
  ["a\rb", undefined, 1],
])("line ends of %j", (text, lineEnd, lines) => {
  expect(detectLineEnd(text)).toBe(lineEnd);
  expect(countLines(text)).toBe(lines);
});

test("line ends are made one kind", () => {
  expect(toLineEnd("a\nb\r\nc", "\r\n")).toBe("a\r\nb\r\nc");
  expect(toLineEnd("a\nb\r\nc", "\n")).toBe("a\nb\nc");
});

test("a prefix fits, is as long as can be, and has whole characters", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "ü", "€", "😀"), maxLength: 20 });
  fc.assert(
    fc.property(text, fc.nat(40), (value, bytes) => {
      const part = toPrefix(value, bytes);
      expect(part.isWellFormed()).toBe(true);
      expect(Buffer.byteLength(part)).toBeLessThanOrEqual(bytes);
      if (part !== value) expect(Buffer.byteLength(part)).toBeGreaterThan(bytes - 4);
      expect(value.startsWith(part)).toBe(true);
    }),
  );
});
