/** What a link of foreign text may lead to (S-63). */

/** A link that may be followed, after the person saw where it leads. */
export interface LinkTarget {
  /** The address as the browser will open it, host names in their ASCII form. */
  readonly href: string;
  /** What a person should read to know where it leads: the host, or the address of a mail. */
  readonly place: string;
  /** Another host than the page's own. */
  readonly isForeign: boolean;
}

const schemes = new Set(["http:", "https:", "mailto:"]);

/**
 * Reads an address. Only whole addresses of the web and of mail are links; everything else is text:
 * scripts, data, files, and relative addresses, which would lead to the page's own server.
 * @param origin of the page
 */
export function toLinkTarget(address: string, origin: string): LinkTarget | undefined {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (!schemes.has(url.protocol)) return undefined;
  const place = url.protocol === "mailto:" ? url.pathname : url.host;
  return { href: url.href, place, isForeign: url.origin !== origin };
}
