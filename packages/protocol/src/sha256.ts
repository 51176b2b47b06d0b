/** SHA-256 of the UTF-8 of a text that arrives in pieces (N55). */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";

export interface Sha256 {
  /** Text may be cut anywhere, also inside a surrogate pair. A lone surrogate becomes U+FFFD. */
  update(text: string): void;
  /** Lower-case hex. Ends the hash: call it once. */
  digest(): string;
}

/** Creates a hash. Its memory is constant. */
export function createSha256(): Sha256 {
  const hash = sha256.create();
  /** The last character of the text, while its other half may follow. */
  let half = "";
  return {
    update: (text) => {
      const all = half + text;
      const isWhole = (all.charCodeAt(all.length - 1) & 0xfc00) !== 0xd800;
      half = isWhole ? "" : all.slice(-1);
      hash.update(encodeUtf8(isWhole ? all : all.slice(0, -1)));
    },
    digest: () => bytesToHex(hash.update(encodeUtf8(half)).digest()),
  };
}

/** Encodes without `TextEncoder`, which an engine that has only the language lacks. */
function encodeUtf8(text: string): Uint8Array {
  const bytes: number[] = [];
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    if (point < 0x80) bytes.push(point);
    else if (point < 0x800) bytes.push(0xc0 | (point >> 6), 0x80 | (point & 0x3f));
    else if (point >= 0xd800 && point < 0xe000) bytes.push(0xef, 0xbf, 0xbd);
    else if (point < 0x1_0000) bytes.push(0xe0 | (point >> 12), 0x80 | ((point >> 6) & 0x3f), 0x80 | (point & 0x3f));
    else
      bytes.push(
        0xf0 | (point >> 18),
        0x80 | ((point >> 12) & 0x3f),
        0x80 | ((point >> 6) & 0x3f),
        0x80 | (point & 0x3f),
      );
  }
  return Uint8Array.from(bytes);
}
