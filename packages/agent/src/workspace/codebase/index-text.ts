/** How the index sees files and questions: as pieces of lines, and as words. */

/** Words that say nothing about code. */
const stopWords: ReadonlySet<string> = new Set(
  (
    "a an and any are as at be but by can code could do does every file files find for from function get has have how i in " +
    "into is it its me my of on or our project show so some tell that the their them then there these they this those to " +
    "used uses using was we were what when where which who why will with work works would you your"
  ).split(" "),
);

const MAX_WORDS = 32;

/** Identifiers with capitals inside, such as `getUserName` and `HTTPServer`. */
const joinedIdentifier = /[\p{L}\p{N}]*\p{Ll}\p{Lu}[\p{L}\p{N}]*|\p{Lu}{2,}\p{Ll}[\p{L}\p{N}]*/gu;

/**
 * A text, followed by the parts of its joined identifiers, so that `user name` finds `getUserName`. Underscores and other
 * marks separate words anyway.
 */
export function toIndexedText(text: string): string {
  const parts = new Set<string>();
  for (const [identifier] of text.matchAll(joinedIdentifier)) {
    if (identifier.length <= 100) parts.add(splitIdentifier(identifier));
  }
  return parts.size === 0 ? text : `${text}\n${[...parts].join(" ")}`;
}

/** `HTTPServerName2` becomes `HTTP Server Name2`. */
function splitIdentifier(identifier: string): string {
  return identifier.replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2").replaceAll(/(\p{Lu}+)(\p{Lu}\p{Ll})/gu, "$1 $2");
}

/** The words of a question, each once, joined identifiers both whole and in parts. */
export function toQueryWords(query: string): string[] {
  const words = toIndexedText(query.slice(0, 2000)).match(/[\p{L}\p{N}]+/gu) ?? [];
  const told = [...new Set(words.map((word) => word.toLowerCase()))];
  const useful = told.filter((word) => !stopWords.has(word) && (word.length > 1 || /\P{ASCII}/u.test(word)));
  return (useful.length > 0 ? useful : told).slice(0, MAX_WORDS);
}

/** Lines of a piece. */
const MAX_LINES = 40;
const MIN_LINES = 12;

/** Longer lines are left out: they are data or generated. UTF-16 units. */
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

/** The last place between the limits that follows a blank line and precedes an unindented one; else the upper limit. */
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
