import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { createChunkDecoder } from "../../src/model-streams/chunk-decoder.ts";
import { cutEverywhere } from "./cut-body.ts";

function decode(chunks: readonly (Uint8Array | string)[]): string {
  const decoder = createChunkDecoder();
  return chunks.map((chunk) => decoder.push(chunk)).join("") + decoder.end();
}

test.each([
  ["characters of one to four bytes", [...Buffer.from("aé世🙂")], "aé世🙂"],
  ["one leading byte order mark", [0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf, 0x61], "\ufeffa"],
  ["malformed and unfinished bytes", [0x61, 0xff, 0xf0, 0x9f, 0x41, 0xe2, 0x82], "a\ufffd\ufffdA\ufffd"],
])(verifies("N25", "%s, whole and cut at every byte"), (_, bytes, text) => {
  const body = Uint8Array.from(bytes);
  expect(decode([body])).toBe(text);
  expect(decode(cutEverywhere(body))).toBe(text);
});

test(verifies("N25", "a string ends a character that the bytes before it left unfinished"), () => {
  expect(decode(["a", Uint8Array.of(0xe2, 0x82), "b", Uint8Array.of(0xc3, 0xa9)])).toBe("a\ufffdbé");
});
