export const lineFeed = 0x0a;
export const carriageReturn = 0x0d;

/** Does this character code end a line? CR, LF and CRLF do, nothing else does (N24). */
export function isLineEnd(code: number): boolean {
  return code === lineFeed || code === carriageReturn;
}
