/** Security headers of every answer, for browsers (S-62). */

/** Forbids everything except the page's own scripts, styles, images, frames and connections. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // The page shows a user's attachments from the memory of the tab (S-102).
  "img-src 'self' blob:",
  "connect-src 'self'",
  // The document in which diagrams are drawn (S-112).
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

/** The policy of an uploaded file (S-121): opened by itself, the file can do nothing. */
export const filePolicy = "default-src 'none'; frame-ancestors 'none'; sandbox";

/** The headers of every answer. Answers with data also forbid caching. */
export const securityHeaders: Readonly<Record<string, string>> = {
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Content-Security-Policy": contentSecurityPolicy,
};

/**
 * Returns the policy of a document that shows untrusted text (S-112): no origin, no network, and only its own scripts.
 * Only the page may frame it.
 * @param scripts their hashes as sources
 */
export function toFramePolicy(scripts: readonly string[]): string {
  return [
    "default-src 'none'",
    `script-src ${scripts.join(" ")}`,
    // Drawings bring their own styles.
    "style-src 'unsafe-inline'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    "sandbox allow-scripts",
  ].join("; ");
}
