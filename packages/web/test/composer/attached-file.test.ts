import { expect, test } from "vitest";
import { createGif, createJpeg, createPng, createWebp, pdf } from "../../../../test/support/images.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { detectMediaType, fitsMessage } from "../../src/composer/attached-file.ts";

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

test(verifies("N65", "a message takes 20 files, of 10 MiB together"), () => {
  expect(fitsMessage(Array.from({ length: 20 }, () => 1))).toBe(true);
  expect(fitsMessage(Array.from({ length: 21 }, () => 1))).toBe(false);
  expect(fitsMessage([10 * 1024 * 1024])).toBe(true);
  expect(fitsMessage([10 * 1024 * 1024, 1])).toBe(false);
});
