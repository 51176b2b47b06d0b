/** JSON on one line, for transports that end a record with a line end. */

/**
 * JSON text of `value` without CR, LF, U+2028 and U+2029 (the last two escaped; S-54).
 * `undefined` and functions become `null`.
 */
export function toJsonLine(value: unknown): string {
  const text = (JSON.stringify(value) as string | undefined) ?? "null";
  return text.replace(otherLineEnds, (character) => (character === "\u2028" ? "\\u2028" : "\\u2029"));
}

const otherLineEnds = /[\u2028\u2029]/g;

/** True if the JSON text of a string on one line is the string itself between quotes. */
export function needsNoEscape(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    // Control characters, quote, backslash, U+2028 and U+2029, and surrogates, which may be unpaired.
    if (unit < 0x20 || unit === 0x22 || unit === 0x5c) return false;
    if (unit > 0x7f && ((unit & 0xfffe) === 0x2028 || (unit & 0xf800) === 0xd800)) return false;
  }
  return true;
}
