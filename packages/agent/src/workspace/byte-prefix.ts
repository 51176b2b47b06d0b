/** Texts cut to a number of UTF-8 bytes, never inside a character. */

/** The longest beginning with at most `bytes`. */
export function toPrefix(text: string, bytes: number): string {
  if (bytes <= 0) return "";
  // No unit takes more than three bytes of its own.
  if (text.length * 3 <= bytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes));
  return text.slice(0, read);
}

/** The longest end with at most `bytes`. */
export function toSuffix(text: string, bytes: number): string {
  if (bytes <= 0) return "";
  if (text.length * 3 <= bytes) return text;
  const encoded = Buffer.from(text.slice(-bytes));
  let start = Math.max(0, encoded.length - bytes);
  while (start < encoded.length && (encoded[start]! & 0xc0) === 0x80) start += 1;
  return encoded.toString("utf8", start);
}
