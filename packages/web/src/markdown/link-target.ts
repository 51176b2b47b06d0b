/** The place where a link in foreign text may lead (S-63). */

/** A link that the user may follow after seeing where it leads. */
export interface LinkTarget {
  /** The address as the browser will open it, host names in their ASCII form. */
  readonly href: string;
  /** What to show so that the user knows where it leads: the host, or the mail address. */
  readonly place: string;
  /** The host is not the page's own. */
  readonly isForeign: boolean;
}

const schemes = new Set(["http:", "https:", "mailto:"]);

/**
 * Reads an address. Only complete web and mail addresses are links; everything else is text:
 * scripts, data, files, and relative addresses, which would lead to the page's own server.
 * @param origin the page's origin
 */
export function toLinkTarget(address: string, origin: string): LinkTarget | undefined {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (!schemes.has(url.protocol)) return undefined;
  const place = url.protocol === "mailto:" ? url.pathname : url.host;
  return { href: url.href, place, isForeign: url.origin !== origin };
}
