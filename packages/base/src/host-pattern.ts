/** Hosts of rules: `example.org`, `*.example.org` for every host below it, `*` for every host. */

export interface HostPattern {
  /** True if the pattern matches the host of a URL, in the form of `toHost`. */
  isMatch(host: string): boolean;
}

/** Parses a pattern; undefined if the text is not a host. */
export function parseHostPattern(text: string): HostPattern | undefined {
  if (text === "*") return { isMatch: () => true };
  const isBelow = text.startsWith("*.");
  const name = isBelow ? text.slice(2) : text;
  const host =
    /^[\p{L}\p{M}\p{N}.[\]:-]+$/u.test(name) && !/^[^[]*:/.test(name) ? toHost(`http://${name}/`) : undefined;
  if (host === undefined) return undefined;
  return { isMatch: (other) => (isBelow ? other.endsWith(`.${host}`) : other === host) };
}

/** True for a host of this machine, which other machines cannot reach. An IPv6 address may be in brackets. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|::1|\[::1\]|127(?:\.\d{1,3}){3})$/.test(host);
}

/**
 * Returns the host of a web address in lower case, ASCII and without a final dot. Undefined for other addresses, and
 * for an address that hides its host: with a name and password, or with signs that parsers read differently (S-32).
 */
export function toHost(address: string): string | undefined {
  // oxlint-disable-next-line no-control-regex -- these are the characters that must not pass
  if (/[\u0000-\u0020\u007f\\]/.test(address)) return undefined;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") return undefined;
  const authority = /^https?:\/\/([^/?#]*)/i.exec(address)?.[1] ?? "";
  if (authority === "" || /[%@]/.test(authority)) return undefined;
  const host = url.hostname.replace(/\.$/, "");
  return host === "" || host.endsWith(".") ? undefined : host;
}
