/** JSON on one line, for the transports that end a record with a line end. */

const otherLineEnds = /[\u2028\u2029]/;
const everyOtherLineEnd = /[\u2028\u2029]/g;

/**
 * JSON text of `value` without CR, LF, U+2028 and U+2029 (the last two escaped; S-54).
 * `undefined` and functions become `null`.
 */
export function toJsonLine(value: unknown): string {
  const text = (JSON.stringify(value) as string | undefined) ?? "null";
  return otherLineEnds.test(text) ? text.replace(everyOtherLineEnd, escapeLineEnd) : text;
}

function escapeLineEnd(character: string): string {
  return character === "\u2028" ? "\\u2028" : "\\u2029";
}
