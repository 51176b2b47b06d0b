import { describe, expect, test } from "vitest";
import { findLeak, secretKinds } from "../../../test/support/secret-kinds.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { createTextMask, maskMark } from "../src/text-mask.ts";

const { mask } = createTextMask();

function maskPieces(pieces: readonly string[], { openPieces: open } = createTextMask()): string {
  const masked = open();
  return pieces.map((piece) => masked.push(piece)).join("") + masked.end();
}

const kinds = Object.entries(secretKinds);

describe("kinds of secrets", () => {
  test.each(kinds)(verifies("S-256", "%s: whole, in a line, and cut at every place"), (_, { text, secret }) => {
    for (const [before, after] of [
      ["", ""],
      ["The key is ", " as it seems.\n"],
      ["a\n", "\nb"],
      ["\u001B[32m", "\u001B[0m"],
    ] as const) {
      const whole = before + text + after;
      const masked = mask(whole);
      expect(masked).toContain(maskMark);
      expect(findLeak(masked, secret)).toBe("");
      expect(masked.split("\n").length).toBe(whole.split("\n").length);
      expect(masked.endsWith(after)).toBe(true);
      for (let at = 1; at < whole.length; at += 1) {
        expect(maskPieces([whole.slice(0, at), whole.slice(at)])).toBe(masked);
      }
      expect(maskPieces(whole.split(""))).toBe(masked);
    }
  });

  test.each(kinds)(verifies("S-256", "%s: JSON stays JSON"), (_, { text, secret }) => {
    const json = JSON.stringify({ text: `first\n${text}\nlast` });
    const masked = JSON.parse(maskPieces(json.split(""))) as { text: string };
    expect(findLeak(masked.text, secret)).toBe("");
    expect(masked.text).toBe(mask(`first\n${text}\nlast`));
  });
});

describe("texts that are not secrets", () => {
  test.each([
    "The quick brown fox: token, password and key are words. API key: missing.",
    "const token = reader.int32(); const secretKey = options.key; password = getPassword();",
    "MAX_TOKEN=4096 SSH_KEY=/root/.ssh/id_ed25519 TOKEN=$TOKEN PASSWORD=<your password> PASSWORD=changeme",
    "http://localhost:8080/path http://user:pass@host postgres://user:password@host/db https://a:${PASSWORD}@b",
    "request 7f9c24e8-3b12-4fef-91e0-56a2d5a0d3a1, trace 0123456789abcdef0123456789abcdef",
    '"integrity": "sha512-aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAaB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA=="',
    "a sk-loading-indicator-wrapper, a risk-averse task-list, hf_hub_download, npm_config_cache, Bearer token",
    "-----BEGIN PRIVATE KEY----- is how a key begins.",
    "eyJust a word. sk-ant-... AKIAEXAMPLE ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
  ])(verifies("S-256", "stays: %s"), (text) => {
    expect(mask(text)).toBe(text);
    expect(maskPieces(text.split(""))).toBe(text);
  });
});

describe("pieces", () => {
  test(verifies("S-256", "wait only while they may be part of a secret"), () => {
    const pieces = createTextMask().openPieces();
    expect(["Use ", "sk-", "ant-", "api03", " or ", "risk", "y", " task"].map((piece) => pieces.push(piece))).toEqual([
      "Use ",
      "sk-",
      "ant-",
      "",
      "api03 or ",
      "risk",
      "y",
      " task",
    ]);
    expect(pieces.end()).toBe("");
  });

  test(verifies("S-256", "the end of a text decides"), () => {
    const pieces = createTextMask().openPieces();
    expect(pieces.push("sk-ant-aB3dE5gH7")).toBe("sk-ant-");
    expect(pieces.end()).toBe("aB3dE5gH7");
  });
});

describe("known values", () => {
  const known = createTextMask(["correct horse", 'q"uote\\d1', "short", ""]);

  test.each([
    ["say correct horse now", "say co…[masked] …[masked] now"],
    [`{"a":${JSON.stringify('q"uote\\d1')}}`, '{"a":"q\\…[masked]"}'],
    ["a short word, and correct hose", "a short word, and correct hose"],
  ])(verifies("S-256", "%s, at every place"), (text, masked) => {
    expect(known.mask(text)).toBe(masked);
    for (let at = 1; at < text.length; at += 1) {
      expect(maskPieces([text.slice(0, at), text.slice(at)], known)).toBe(masked);
    }
    expect(maskPieces(text.split(""), known)).toBe(masked);
  });
});

test(verifies("S-72", "takes linear time, whole and in pieces"), () => {
  const hostile = [
    "-",
    "sk-",
    "api key: ",
    "key-",
    "aA1",
    "eyJ.",
    "Bearer ",
    "key=&",
    "xai-",
    "PWD=",
    "://a:",
    "A_",
    "token=",
  ];
  for (const piece of [
    ...hostile,
    "-----BEGIN PRIVATE KEY-----",
    "\u001B[3",
    "a.",
    "\\n",
    "password",
    "0123456789:AA",
  ]) {
    const text = piece.repeat(Math.ceil(64_000 / piece.length));
    expect(mask(text).length).toBeLessThanOrEqual(text.length * 2);
    expect(maskPieces(text.match(/.{1,50}/gs)!).length).toBeLessThanOrEqual(text.length * 2);
    const word = text.slice(0, 4000);
    expect(maskPieces(word.match(/.{1,50}/gs)!) === mask(word), piece).toBe(true);
  }
});
