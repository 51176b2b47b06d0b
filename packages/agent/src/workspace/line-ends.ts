/** Line ends: "\n" and "\r\n". A lone "\r" is no line end. */

export type LineEnd = "\n" | "\r\n";

/** The line end that all lines of a text have; `mixed` if they differ, undefined if there is none. */
export function detectLineEnd(text: string): LineEnd | "mixed" | undefined {
  let found: LineEnd | undefined;
  for (let index = text.indexOf("\n"); index !== -1; index = text.indexOf("\n", index + 1)) {
    const end = text[index - 1] === "\r" ? "\r\n" : "\n";
    if (found !== undefined && found !== end) return "mixed";
    found = end;
  }
  return found;
}

/** The same text with one kind of line end. */
export function toLineEnd(text: string, lineEnd: LineEnd): string {
  const unix = text.replaceAll("\r\n", "\n");
  return lineEnd === "\n" ? unix : unix.replaceAll("\n", "\r\n");
}

/** How many "\n" stand in a text. */
export function countLineEnds(text: string): number {
  let count = 0;
  for (let index = text.indexOf("\n"); index !== -1; index = text.indexOf("\n", index + 1)) count += 1;
  return count;
}

/** Lines as people count them: a line end at the end begins no further one. */
export function countLines(text: string): number {
  if (text === "") return 0;
  return countLineEnds(text) + (text.endsWith("\n") ? 0 : 1);
}
