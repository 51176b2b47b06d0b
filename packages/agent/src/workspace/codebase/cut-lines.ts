/** A file in pieces that a reader takes in at a glance. */

/** Lines of a piece. */
const MAX_LINES = 40;
const MIN_LINES = 12;

/** Longest line that is looked at; longer ones are data or made by programs. UTF-16 units. */
const MAX_LINE = 500;

/** Lines from `startLine` to `endLine`, 1-based, included. */
export interface CodePiece {
  readonly startLine: number;
  readonly endLine: number;
  readonly text: string;
}

/** Pieces in order, without gaps; a piece ends before a line that begins something new, if there is one. */
export function cutLines(text: string): CodePiece[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  const pieces: CodePiece[] = [];
  for (let start = 0; start < lines.length;) {
    const end = findEnd(lines, start);
    const shown = lines.slice(start, end).map((line) => line.slice(0, MAX_LINE));
    pieces.push({ startLine: start + 1, endLine: end, text: shown.join("\n") });
    start = end;
  }
  return pieces;
}

/** The last place between the limits behind a blank line whose next line is not indented; else the upper limit. */
function findEnd(lines: readonly string[], start: number): number {
  const most = start + MAX_LINES;
  if (most >= lines.length) return lines.length;
  for (let end = most; end >= start + MIN_LINES; end -= 1) {
    if (lines[end - 1]!.trim() === "" && /^[^\s})\]]/.test(lines[end]!)) return end;
  }
  for (let end = most; end >= start + MIN_LINES; end -= 1) {
    if (lines[end - 1]!.trim() === "") return end;
  }
  return most;
}
