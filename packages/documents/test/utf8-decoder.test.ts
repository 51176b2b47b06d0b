import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { createUtf8Decoder } from "../src/utf8-decoder.ts";

function decode(chunks: Iterable<Uint8Array>): string {
  const decoder = createUtf8Decoder();
  let text = "";
  for (const chunk of chunks) text += decoder.push(chunk);
  return text + decoder.end();
}

/** What every cut into two and single bytes give; a set of one, if the decoder is right. */
function decodeAllCuts(bytes: Uint8Array): Set<string> {
  const texts = new Set([decode(Array.from(bytes, (byte) => Uint8Array.of(byte)))]);
  for (let at = 0; at <= bytes.length; at += 1) texts.add(decode([bytes.subarray(0, at), bytes.subarray(at)]));
  return texts;
}

/** What the platform's decoder gives for all bytes. */
function decodeByPlatform(bytes: Uint8Array): Set<string> {
  return new Set([new TextDecoder().decode(bytes)]);
}

describe("createUtf8Decoder", () => {
  test.each([
    "",
    "plain",
    "é",
    "🙂",
    "a\u07ff\u0800\uffff\u{10000}\u{10ffff}z",
    "👩‍💻é世界\r\n",
    "\ufeffa",
    "\ufeff\ufeff",
    "a\ufeff",
  ])(verifies(["N25"], "every cut of %j"), (text) => {
    const bytes = Buffer.from(text);
    expect(decodeAllCuts(bytes)).toEqual(decodeByPlatform(bytes));
  });

  test.each([
    "80",
    "bf bf",
    "c0 80",
    "c1 bf",
    "c3",
    "c3 28",
    "e2 82",
    "e2 82 41",
    "e2 28 a1",
    "e0 9f bf",
    "e0 a0 80",
    "ed 9f bf",
    "ed a0 80",
    "ed b0 80 ed a0 bd",
    "f0 8f bf bf",
    "f0 90 80 80",
    "f0 9f 99",
    "f0 9f 99 41",
    "f0 9f f0 9f 99 82",
    "f4 8f bf bf",
    "f4 90 80 80",
    "f5 80 80 80",
    "fe ff",
    "ef bb",
    "ef bb bf",
    "ef bb ef bb bf",
    "ef bb bf ef bb bf 61",
    "61 ef bb bf",
  ])(verifies(["N25"], "malformed or odd bytes %s"), (hex) => {
    const bytes = Uint8Array.from(hex.split(" "), (byte) => Number.parseInt(byte, 16));
    expect(decodeAllCuts(bytes)).toEqual(decodeByPlatform(bytes));
  });

  test(verifies(["N25"], "random bytes, most of them of multi-byte sequences"), () => {
    const byte = fc.oneof(
      fc.integer({ min: 0, max: 255 }),
      fc.constantFrom(
        0x41,
        0x80,
        0x8f,
        0x90,
        0x9f,
        0xa0,
        0xbf,
        0xc2,
        0xdf,
        0xe0,
        0xed,
        0xef,
        0xf0,
        0xf4,
        0xbb,
        0xc0,
        0xf5,
      ),
    );
    fc.assert(
      fc.property(fc.array(byte, { maxLength: 24 }), (values) => {
        const bytes = Uint8Array.from(values);
        expect(decodeAllCuts(bytes)).toEqual(decodeByPlatform(bytes));
      }),
      { numRuns: 5000, seed: 42 },
    );
  });

  test(verifies(["N26"], "only an unfinished sequence is held"), () => {
    const decoder = createUtf8Decoder();
    expect(decoder.push(Uint8Array.of(0x61, 0xf0, 0x9f))).toBe("a");
    expect(decoder.push(Uint8Array.of(0x99))).toBe("");
    expect(decoder.push(Uint8Array.of(0x82, 0x62))).toBe("🙂b");
    expect(decoder.push(Uint8Array.of(0xe4))).toBe("");
    expect(decoder.push(Uint8Array.of(0x61))).toBe("\ufffda");
    expect(decoder.end()).toBe("");
  });

  test("texts longer than one block", () => {
    for (const text of ["a".repeat(10_000), "é🙂".repeat(10_000), `${"a".repeat(4095)}🙂${"b".repeat(4095)}🙂`]) {
      const bytes = Buffer.from(text);
      expect(decode([bytes])).toBe(text);
      expect(decode([bytes.subarray(0, 4097), bytes.subarray(4097)])).toBe(text);
    }
  });

  test("after its end a decoder is as new", () => {
    const decoder = createUtf8Decoder();
    expect(decoder.push(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61, 0xc3)) + decoder.end()).toBe("a\ufffd");
    expect(decoder.push(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61)) + decoder.end()).toBe("a");
  });
});
