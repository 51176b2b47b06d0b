/**
 * Checks of keys and headers before they are used: `fetch` quotes a value that it refuses in its message, and a key must
 * never stand in one (S-41).
 */
import { SheafError } from "../base/errors.ts";

/** Longest key. UTF-16 units. */
const MAX_KEY_LENGTH = 8192;

/** Whether a text can be a key: printable ASCII without blanks. */
export function isKeyText(text: string): boolean {
  return text.length <= MAX_KEY_LENGTH && /^[\x21-\x7E]+$/.test(text);
}

export function isHeaderName(text: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text);
}

export function isHeaderValue(text: string): boolean {
  return /^[\t\x20-\x7E\x80-\xFF]*$/.test(text);
}

/** Names of headers that carry a key. */
const keyHeaders: readonly string[] = ["authorization", "x-api-key", "x-goog-api-key", "api-key"];

/** Whether the user put the key into the headers. */
export function hasKeyHeader(headers: Readonly<Record<string, string>>): boolean {
  return keyHeaders.some((name) => Object.hasOwn(headers, name));
}

/**
 * Headers of `-H "Name: value"`, names in lower case; the last of a name counts.
 * @throws SheafError USAGE; the message never holds the value.
 */
export function parseHeaders(lines: readonly string[]): Record<string, string> {
  const entries = lines.map((line, index): [string, string] => {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0)).trim();
    const value = line.slice(colon + 1).trim();
    if (!isHeaderName(name)) {
      throw new SheafError("USAGE", `header ${index + 1} (-H) is no header: write -H "Name: value"`);
    }
    if (!isHeaderValue(value)) {
      throw new SheafError("USAGE", `the header "${name}" (-H) holds a character that no header can have: correct it`);
    }
    return [name.toLowerCase(), value];
  });
  return Object.fromEntries(entries);
}
