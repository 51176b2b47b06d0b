import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { chooseRuns } from "../../../test/support/soak.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { createSha256 } from "../src/index.ts";

function hash(...pieces: readonly string[]): string {
  const sha256 = createSha256();
  for (const piece of pieces) sha256.update(piece);
  return sha256.digest();
}

test(verifies("N55", "is SHA-256 of the UTF-8, whatever the pieces"), () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), fc.nat({ max: 200 }), (text, at) => {
      const expected = createHash("sha256").update(text).digest("hex");
      expect(hash(text)).toBe(expected);
      expect(hash(text.slice(0, at), text.slice(at))).toBe(expected);
      expect(hash(...text.split(""))).toBe(expected);
    }),
    { numRuns: chooseRuns(1000) },
  );
});

test("every length around the block size, lone surrogates, and the known answers", () => {
  expect(hash()).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  expect(hash("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  for (let length = 50; length < 140; length += 1) {
    expect(hash("a".repeat(length))).toBe(createHash("sha256").update("a".repeat(length)).digest("hex"));
  }
  for (const text of ["\ud800", "\udc00", "\ud800a", "\ud800\ud83d\ude42", "a\udc00\ud800"]) {
    expect(hash(...text.split(""))).toBe(createHash("sha256").update(text).digest("hex"));
  }
});
