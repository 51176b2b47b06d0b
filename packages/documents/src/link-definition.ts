/**
 * Link reference definitions (CommonMark 0.31, 4.7). A paragraph of definitions only cannot have a setext underline;
 * the block structure needs no more of them.
 */

const label = String.raw`\[(?![ \t\n]*\])(?:\\[^]|[^\\[\]]){1,999}\]:[ \t\n]*`;
const blanks = String.raw`[ \t]`;

/** A character of a destination without brackets; only a backslash before punctuation escapes. */
const bare = String.raw`(?:[^\\()\0- \x7f]|\\(?:[!-/:-@[-\`{-~]|(?![!-/:-@[-\`{-~])))`;
/** A part of a destination with balanced parentheses, at most 32 deep. */
const balanced = Array.from({ length: 32 }).reduce<string>((inner) => `(?:${bare}|\\(${inner}*\\))`, bare);
const destination = String.raw`(?:<(?:\\.|[^\\<>\n])*>|(?!<)${balanced}+)`;
const title = String.raw`(?:"(?:\\[^]|[^\\"])*"|'(?:\\[^]|[^\\'])*'|\((?:\\[^]|[^\\()])*\))`;
const separator = `(?:${blanks}+|${blanks}*\\n)`;

const definitions = new RegExp(`^(?:${label}${destination}(?:${separator}${title})?${blanks}*(?:\\n|$))+$`);
const beginning = /^\[(?:\\(?:.|$)|[^\\[\]])*(?:\]:|$)/;

/** Most UTF-16 units of a paragraph that is tested. */
const longest = 100_000;

/** True if a paragraph with this first line may consist of definitions only. */
export function mayBeDefinitions(firstLine: string): boolean {
  return beginning.test(firstLine);
}

/** True if the paragraph contains complete definitions only. Its lines are joined with LF, without leading blanks. */
export function isDefinitions(paragraph: string): boolean {
  return paragraph.length <= longest && definitions.test(paragraph);
}
