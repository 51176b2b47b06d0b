/** A word of a shell command, taken out of its quotes. Only what bash leaves as it is; the rest is not known. */
import type { ShellWord } from "./shell-reading.ts";

/** ASCII that means nothing to the shell within a word. */
const plain = /[A-Za-z0-9_./:@%+=,^#-]/;
const wildcard = /[*?[\]]/;
/** Characters that a backslash in double quotes protects. */
const escapable = /[$`"\\]/;

/** The word, or undefined if the shell would make something else of it. Linear. */
export function readWord(raw: string): ShellWord | undefined {
  let text = "";
  let isGlob = false;
  for (let at = 0; at < raw.length;) {
    const character = raw[at]!;
    if (character === "'" || character === '"') {
      const quoted = readQuoted(raw, at);
      if (!quoted) return undefined;
      text += quoted.text;
      at = quoted.end;
    } else if (character === "\\") {
      const next = raw[at + 1];
      if (next === undefined || !/[\x20-\x7e]/.test(next)) return undefined;
      text += next;
      at += 2;
    } else {
      if (wildcard.test(character)) isGlob = true;
      else if (!isPlain(raw, at)) return undefined;
      text += character;
      at += 1;
    }
  }
  // A file of any name stands behind a leading wildcard, also one that reads as an option.
  return isGlob && /^[*?[\]-]/.test(text) ? undefined : { text, isGlob };
}

/** The text between quotes that begin at `start`, and where they end. */
function readQuoted(raw: string, start: number): { readonly text: string; readonly end: number } | undefined {
  const quote = raw[start];
  if (quote === "'") {
    const end = raw.indexOf("'", start + 1);
    return end < 0 ? undefined : { text: raw.slice(start + 1, end), end: end + 1 };
  }
  let text = "";
  for (let at = start + 1; at < raw.length; at += 1) {
    const character = raw[at]!;
    if (character === '"') return { text, end: at + 1 };
    if (character === "$" || character === "`") return undefined;
    if (character === "\\" && raw[at + 1] === "\n") return undefined;
    if (character === "\\" && escapable.test(raw[at + 1] ?? "")) at += 1;
    text += raw[at];
  }
  return undefined;
}

/** Whether the character at a place without quotes stands for itself. */
function isPlain(raw: string, at: number): boolean {
  const character = raw[at]!;
  // There begins a comment.
  if (character === "#" && at === 0) return false;
  if (plain.test(character)) return true;
  // A tilde at the beginning, or where a value begins, is a folder of a user.
  if (character === "~") return at > 0 && !/[:=]/.test(raw[at - 1]!);
  return character > "\u007f" && !isSplitBySomeShells(raw, at);
}

/** Some systems take the bytes 85 and A0 for blanks, also within a character of several bytes. */
function isSplitBySomeShells(raw: string, at: number): boolean {
  const code = raw.codePointAt(at)!;
  const bytes = [code & 0x3f, (code >> 6) & 0x3f, (code >> 12) & 0x3f];
  return bytes.some((bits) => bits === 0x05 || bits === 0x20);
}
