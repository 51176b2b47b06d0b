/** Is this character code the first half of a surrogate pair? Alone it is no character and has no UTF-8. */
export function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
