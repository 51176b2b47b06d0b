import { expect, test } from "vitest";
import { createGif, createJpeg, createPng, createWebp, pdf } from "../../../../test/support/images.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { defaultFileLimits, detectMediaType, fitsMessage, readAttachedFile } from "../../src/composer/attached-file.ts";

test.each([
  ["image/png", createPng(1, 1)],
  ["image/gif", createGif(1, 1)],
  ["image/jpeg", createJpeg(1, 1)],
  ["image/webp", createWebp("VP8 ", 1, 1)],
  ["application/pdf", pdf],
  [undefined, Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>")],
  [undefined, Buffer.from("<html>")],
  [undefined, Buffer.alloc(0)],
])(verifies("S-102", "%s is known by its bytes"), (mediaType, bytes) => {
  expect(detectMediaType(bytes)).toBe(mediaType);
});

test.each([
  ["text/plain", "notes.md", "# Ü\n"],
  ["image/png", "notes.txt", createPng(1, 1)],
  [undefined, "evil.png", "<svg/>"],
  [undefined, "a.bin", Buffer.from([0xff, 0xff])],
  [undefined, "a.txt", "a\0b"],
  [undefined, "a.txt", ""],
  [undefined, "a.txt", "a".repeat(256 * 1024 + 1)],
])(verifies("X49", "%s is what %s becomes"), async (mediaType, name, bytes) => {
  const read = await readAttachedFile(
    new File([new Uint8Array(Buffer.from(bytes))], name, { type: "image/png" }),
    defaultFileLimits,
  );
  expect([read?.mediaType, read?.blob.type]).toEqual([mediaType, mediaType]);
});

test(verifies(["N65", "X49"], "a message takes 20 files, of 10 MiB together, 256 KiB of it text"), () => {
  const toFiles = (mediaType: string, ...sizes: readonly number[]) => sizes.map((size) => ({ mediaType, size }));
  const fits = (files: ReturnType<typeof toFiles>): boolean => fitsMessage(files, defaultFileLimits);
  const many = Array.from({ length: 21 }, () => 1);
  const largest = 10 * 1024 * 1024;
  const largestText = 256 * 1024;
  expect(fits(toFiles("image/png", ...many.slice(1)))).toBe(true);
  expect(fits(toFiles("image/png", ...many))).toBe(false);
  expect(fits(toFiles("image/png", largest))).toBe(true);
  expect(fits(toFiles("image/png", largest, 1))).toBe(false);
  expect(fits([...toFiles("image/png", largestText), ...toFiles("text/plain", largestText)])).toBe(true);
  expect(fits(toFiles("text/plain", largestText, 1))).toBe(false);
});
