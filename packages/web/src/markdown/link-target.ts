/** Targets of links in untrusted text (S-63). */

/** A link that the user may follow after seeing its target. */
export interface LinkTarget {
  /** The address that the browser will open, with host names in their ASCII form. */
  readonly href: string;
  /** The host or the mail address, to show the user the link's target. */
  readonly place: string;
  /** True if the host isn't the page's own. */
  readonly isForeign: boolean;
}

const schemes = new Set(["http:", "https:", "mailto:"]);

/**
 * Returns the target of an address; undefined if it isn't a complete web or mail address. Everything else stays text:
 * scripts, data, files, and relative addresses, which would point to the page's own server.
 * @param origin the page's origin
 */
export function toLinkTarget(address: string, origin: string): LinkTarget | undefined {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (!schemes.has(url.protocol)) return undefined;
  const place = url.protocol === "mailto:" ? url.pathname : url.host;
  return { href: url.href, place, isForeign: url.origin !== origin };
}
