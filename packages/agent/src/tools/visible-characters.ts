/** Text in which nothing can hide from the person who reads it (S-16). */

/** Control and format characters, marks that reorder, blanks that are no plain blank, and halves of characters. */
const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}]/gu;

/** Runs that would push what follows them out of sight. */
const longBlanks = /\n{4,}| {33,}|\t{9,}/g;

/**
 * The whole text with each hidden character by its code, `<U+202E>`. Blanks, tabs and line feeds stay, unless many of
 * them follow one another: then one is shown with their number.
 */
export function toVisibleCharacters(text: string): string {
  return text
    .replaceAll(hidden, (character) => (/[ \t\n]/.test(character) ? character : formatCode(character)))
    .replaceAll(longBlanks, (run) => `<${formatCode(run[0]!).slice(1, -1)} ×${run.length}>`);
}

function formatCode(character: string): string {
  return `<U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}>`;
}
