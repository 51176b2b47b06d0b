/** Addresses of providers. */

/** An address without a slash at its end, or what was expected; never the text, which may hold a key (S-42). */
export type ParsedUrl =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly expected: string };

/** Checks an address that the path of a request is put behind. */
export function parseBaseUrl(text: string): ParsedUrl {
  const url = URL.parse(text.trim());
  if (!url || (url.protocol !== "http:" && url.protocol !== "https:")) {
    return { ok: false, expected: "expected an address that begins with http:// or https://" };
  }
  if (url.username !== "" || url.password !== "") {
    return { ok: false, expected: "expected an address without a name or a password in it" };
  }
  if (url.search !== "" || url.hash !== "") {
    return { ok: false, expected: "expected an address without ? and # in it" };
  }
  return { ok: true, value: url.href.replace(/\/+$/, "") };
}
