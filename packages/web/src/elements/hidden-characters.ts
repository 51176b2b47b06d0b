/** Characters that people cannot see, or that change how their neighbours are read (S-16). */

/** A run of plain text, or a hidden part of it. */
export interface TextPart {
  readonly text: string;
  /** Code such as `U+202E` for a hidden character, or `U+0020 ×80` for blanks that push text out of sight. */
  readonly code?: string;
}

/**
 * Control and format characters (bidirectional marks among them), blanks other than the plain one, lone surrogates,
 * unassigned and private-use characters, and long runs of blanks, tabs or line feeds; short runs stay.
 */
const hidden =
  /\n{4,}| {33,}|\t{9,}|[\u2800\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}]/gu;

export function toVisibleParts(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(hidden)) {
    if (found.length === 1 && /[ \t\n]/.test(found)) continue;
    if (index > end) parts.push({ text: text.slice(end, index) });
    parts.push({ text: found, code: formatCode(found) });
    end = index + found.length;
  }
  if (end < text.length) parts.push({ text: text.slice(end) });
  return parts;
}

/** Returns the visible parts as one text, for places without elements. */
export function toVisibleText(text: string): string {
  return toVisibleParts(text)
    .map(({ text: part, code }) => code ?? part)
    .join("");
}

function formatCode(found: string): string {
  const code = found.codePointAt(0)!;
  const count = [...found].length;
  const name = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  return count === 1 ? name : `${name} ×${count}`;
}
