/** What is known of a word before its command runs. */
import { toProgramName } from "./programs.ts";
import { UNKNOWN, type ShellWord } from "./shell-reading.ts";

/** The text of a word, with `UNKNOWN` for what is not known. */
export function toPattern({ text, isGlob }: ShellWord): string {
  return isGlob ? `${text.slice(0, text.search(/[*?[\]]/))}${UNKNOWN}` : text;
}

/** The text of a word that is known in full. */
export function toKnownText(word: ShellWord): string | undefined {
  return word.isMany || word.text.includes(UNKNOWN) ? undefined : word.text;
}

/** The name of a program, if it is known; its folder need not be. */
export function toKnownName(word: ShellWord): string | undefined {
  const name = toProgramName(toPattern(word));
  if (word.isMany || name.includes(UNKNOWN)) return undefined;
  return /^ld(?:-linux|-musl|\.so)/.test(name) ? "ld.so" : name;
}

/** Whether a word may be anything, an option too. With a folder in it, it is the name of a file. */
export function isOpen(word: ShellWord): boolean {
  return word.isMany || (word.text.startsWith(UNKNOWN) && !word.text.includes("/"));
}

export function isOption(text: string): boolean {
  return text.length > 1 && text.startsWith("-");
}

/** How many of the next words are an option's value; undefined: none or one. */
export function countValueWords(text: string, valued: ReadonlySet<string>): 0 | 1 | undefined {
  if (valued.has(text)) return 1;
  const isJoined = /^-\w./.test(text) && valued.has(text.slice(0, 2));
  return isJoined || text.includes("=") || text.startsWith("--no-") ? 0 : undefined;
}

/** A word as it is written, in one short line. */
export function toShown({ source }: ShellWord): string {
  return source.replaceAll(/\s+/g, " ").slice(0, 200);
}

export function toOptions(options = ""): ReadonlySet<string> {
  return new Set(options.split(" "));
}
