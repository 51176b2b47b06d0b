/** Joins the pieces into which tool calls cut a text (C3 of the command line's contract). */

/** The end of a sentence or a Markdown block, with the quotes, brackets and marks that may follow it. */
const sentenceEnd = /(?:[.!?:…。！？：．؟۔।|]|`{3}|~{3})["'”’»)\]*_`~」』）】]*$/u;
/** Starts no sentence, in any script. */
const innerMark = /^[,;)，；、）」』。！？：]/u;
/** A letter that starts no sentence where one could have capitals, or of a script without capitals. */
const smallLetter = /^[\p{Ll}\p{Lo}]/u;
/** A letter of a script that writes its words without blanks between them. */
const unspacedLetter = /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

/** {@link isSentenceContinued} needs only this many of the earlier piece's last characters. */
export const SEAM_CHARACTERS = 64;

/**
 * Returns true if the earlier piece's last sentence continues in the later one. It looks at the end of the first, and
 * at the second up to its first character that is not blank.
 */
export function isSentenceContinued(earlier: string, later: string): boolean {
  const end = earlier.slice(-SEAM_CHARACTERS);
  const before = end.trimEnd();
  const after = later.trimStart();
  const seam = end.slice(before.length) + later.slice(0, later.length - after.length);
  if (before === "" || after === "" || seam.includes("\n") || sentenceEnd.test(before)) return false;
  return innerMark.test(after) || unspacedLetter.test(after) || (seam !== "" && smallLetter.test(after));
}

/** Joins the pieces as they came where a sentence continues, elsewhere with a blank line. Leaves out blank pieces. */
export function joinPieces(pieces: readonly string[]): string {
  let joined = "";
  let previous = "";
  for (const piece of pieces) {
    if (piece.trim() === "") continue;
    if (previous === "" || isSentenceContinued(previous, piece)) joined += piece;
    else joined = `${joined.trimEnd()}\n\n${piece.trimStart()}`;
    previous = piece;
  }
  return joined;
}
