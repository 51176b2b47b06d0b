/** What every answer tells a browser (S-62). */

/** Nothing comes from elsewhere, nothing is sent elsewhere, nothing runs that is not the page's own. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // What a person attaches is shown from the tab's own memory (S-102).
  "img-src 'self' blob:",
  "connect-src 'self'",
  // The document in which diagrams are drawn (S-112).
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

/** Of a file that a client brought (S-121): opened by itself, it can do nothing. */
export const filePolicy = "default-src 'none'; frame-ancestors 'none'; sandbox";

/** Of every answer; what holds data is not kept by anybody. */
export const securityHeaders: Readonly<Record<string, string>> = {
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Content-Security-Policy": contentSecurityPolicy,
};

/**
 * Of a document that shows foreign text (S-112): no origin, no network, no script but its own. Only the page may frame
 * it.
 * @param scripts their hashes as sources
 */
export function toFramePolicy(scripts: readonly string[]): string {
  return [
    "default-src 'none'",
    `script-src ${scripts.join(" ")}`,
    // Drawings have styles of their own.
    "style-src 'unsafe-inline'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    "sandbox allow-scripts",
  ].join("; ");
}
