/**
 * Checks of keys, headers and addresses before they are used: `fetch` quotes a refused value in its message, and a key
 * must never appear in one (S-41).
 */
import * as s from "@sheaf/protocol/schema";
import { SheafError } from "@sheaf/base/errors";

/** Longest key. UTF-16 units. */
const MAX_KEY_LENGTH = 8192;

/** True if a text can be a key: printable ASCII without spaces. */
export function isKeyText(text: string): boolean {
  return text.length <= MAX_KEY_LENGTH && /^[\x21-\x7E]+$/.test(text);
}

function isHeaderName(text: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text);
}

function isHeaderValue(text: string): boolean {
  return /^[\t\x20-\x7E\x80-\xFF]*$/.test(text);
}

/** Headers by name. They may contain keys, so no message shows them (S-41). */
export const headerFields = s.record(
  s.refine(s.string(), "one line of printable characters", isHeaderValue),
  s.refine(s.string(), "the name of a header", isHeaderName),
);

/** Names of headers that carry a key. */
const keyHeaders: readonly string[] = ["authorization", "x-api-key", "x-goog-api-key", "api-key"];

/** True if the user put the key into the headers. */
export function hasKeyHeader(headers: Readonly<Record<string, string>>): boolean {
  return keyHeaders.some((name) => Object.hasOwn(headers, name));
}

/**
 * Headers of `-H "Name: value"`, names in lower case. The last header of a name applies.
 * @throws SheafError USAGE; the message never contains the value.
 */
export function parseHeaders(lines: readonly string[]): Record<string, string> {
  const entries = lines.map((line, index): [string, string] => {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0)).trim();
    const value = line.slice(colon + 1).trim();
    if (!isHeaderName(name)) {
      throw new SheafError("USAGE", `the header ${index + 1} (-H) has no valid name: write -H "Name: value"`);
    }
    if (!isHeaderValue(value)) {
      throw new SheafError(
        "USAGE",
        `the header "${name}" (-H) contains a character that is not allowed in headers: remove it`,
      );
    }
    return [name.toLowerCase(), value];
  });
  return Object.fromEntries(entries);
}

/** An address without a slash at its end, or the expected form; never the text, which may contain a key (S-42). */
export type ParsedUrl =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly expected: string };

/** Checks an address to which the path of a request is appended. */
export function parseBaseUrl(text: string): ParsedUrl {
  const url = URL.parse(text.trim());
  if (!url || (url.protocol !== "http:" && url.protocol !== "https:")) {
    return { ok: false, expected: "expected an address that starts with http:// or https://" };
  }
  if (url.username !== "" || url.password !== "") {
    return { ok: false, expected: "expected an address without a name or a password in it" };
  }
  if (url.search !== "" || url.hash !== "") {
    return { ok: false, expected: "expected an address without ? and # in it" };
  }
  return { ok: true, value: url.href.replace(/\/+$/, "") };
}
