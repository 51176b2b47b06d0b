import { describe, expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { maskKeys } from "../src/key-shapes.ts";

const random = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA";

describe("keys of others", () => {
  test.each([
    [
      "Incorrect API key provided: sk-proj-abcDEF123456-_xyz. You can find",
      "Incorrect API key provided: sk-proj-[key]. You can find",
    ],
    ["invalid x-api-key sk-ant-api03-abcdefgh", "invalid x-api-key sk-ant-[key]"],
    ["key AIzaSyA-0123456789abcdefghijklmnopqrstu is", "key AIza[key] is"],
    ["gsk_0123456789abcdef xai-0123456789abcdef", "gsk_[key] xai-[key]"],
    ["Authorization: Bearer abcdef0123456789.x/y=", "Authorization: Bearer [key]"],
    ["api_key=0123456789abcdef0123456789abcdef&x", "api_key=[key]&x"],
    ['{"api_key": "0123456789abcdef"}', '{"api_key": "[key]"}'],
    ["https://host/v1?key=abc123def456", "https://host/v1?key=[key]"],
    ["Invalid API Key: abc123def456.", "Invalid API Key: [key]."],
    [`the credential ${random} was revoked`, "the credential [key] was revoked"],
    [`eyJ${random}.${random}.${random}-_`, "[key]"],
    ["key-0a1b2c3d4e5f6a7b8c", "key-[key]"],
  ])(verifies("S-41", "%s"), (text, masked) => {
    expect(maskKeys(text)).toBe(masked);
  });

  test.each([
    "The model `claude-sonnet-4-5-20250929` does not exist (request req_011CSHoEeqs5C35K2UUqR7Fy)",
    "accounts/fireworks/models/llama-v3p1-405b-instruct-turbo-2024-10-22 is not ready",
    "Invalid API key. API key: missing. See https://platform.example.com/account/api-keys",
    "request 7f9c24e8-3b12-4fef-91e0-56a2d5a0d3a1, trace 0123456789abcdef0123456789abcdef",
    "max_tokens: 200000 is too large; unexpected token: 12345678 at position 3",
    "Incorrect API key provided: sk-abc12***************wxyz",
    "a key-value store, a risk-averse task",
  ])("what is useful stays: %s", (text) => {
    expect(maskKeys(text)).toBe(text);
  });

  test(verifies("S-72", "takes linear time"), () => {
    for (const piece of ["-", "sk-", "api key: ", "key-", "aA1", "eyJ.", "Bearer ", "key=&"]) {
      const text = piece.repeat(Math.ceil(64_000 / piece.length));
      expect(maskKeys(text).length).toBeLessThanOrEqual(text.length);
    }
  });
});
