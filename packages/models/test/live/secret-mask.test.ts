import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { createSecretMask } from "../../src/live/secrets.ts";

const secret = "sk-canary-0123456789abcdef";

/** What is left of a text that goes through the mask in pieces of a size. */
function maskText(text: string, size: number): string {
  const mask = createSecretMask([secret]);
  const bytes = Buffer.from(text);
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(mask(bytes.subarray(at, at + size)));
  return Buffer.concat(pieces).toString();
}

describe("the mask of secrets", () => {
  const text = `é ${secret} and ${secret.toUpperCase()}${secret}, sk-canary-0 alone`;
  const hidden = "x".repeat(secret.length);

  test(verifies("S-42", "hides whole ones in any case, and keeps the number of bytes"), () => {
    expect(maskText(text, 1000)).toBe(`é ${hidden} and ${hidden}${hidden}, sk-canary-0 alone`);
  });

  test(verifies("S-42", "shows at most the first eight bytes of one, however it is cut"), () => {
    for (let size = 1; size <= text.length; size += 1) {
      const masked = maskText(text, size);
      expect(Buffer.byteLength(masked)).toBe(Buffer.byteLength(text));
      expect(masked.toLowerCase(), `pieces of ${size}`).not.toContain("0123");
      expect(masked.toLowerCase(), `pieces of ${size}`).not.toContain("def");
      expect(masked.startsWith("é ") && masked.endsWith(" alone"), `pieces of ${size}`).toBe(true);
    }
  });

  test("leaves everything else as it is, without a copy", () => {
    const mask = createSecretMask([secret]);
    const chunk = Buffer.from("nothing to hide");
    expect(mask(chunk)).toBe(chunk);
  });
});
