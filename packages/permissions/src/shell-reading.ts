/** Describes the programs that a shell command will run, as far as they are known before it runs (S-11). */

/** Replaces any text in a word that is known only when the command runs. No command contains this character. */
export const UNKNOWN = "\0";

/** One word as the program receives it. */
export interface ShellWord {
  /** The text, with `UNKNOWN` for unknown parts. */
  readonly text: string;
  /** True if the shell replaces the word by names of files; `text` is then the pattern. */
  readonly isGlob: boolean;
  /** True if the shell may make several words of it, or no word. */
  readonly isMany: boolean;
  /** The word in its original form. */
  readonly source: string;
}

/** A program with its arguments. */
export type SimpleCommand = readonly ShellWord[];

/** All programs that a command may run; each part of it may run or not. */
export interface ShellReading {
  /** Commands at any depth: in lists, loops, functions and substitutions. */
  readonly commands: readonly SimpleCommand[];
  /** Values of variables, which programs may run (`GIT_EDITOR=…`). */
  readonly settings: readonly ShellWord[];
  /** True if `&&` follows the first command, whose success the rest needs, and if the rest has only `&&` and pipes. */
  readonly isChain: boolean;
  /**
   * The form that no allow rule can judge, in a few words. If it is undefined, the commands are at the top, their first
   * words are not patterns, no pattern starts with a wildcard or `-`, and redirections reach no file.
   */
  readonly obstacle: string | undefined;
}

/** The reading, or the unreadable part of the command, in a few words. */
export type ShellResult =
  | { readonly ok: true; readonly reading: ShellReading }
  | { readonly ok: false; readonly problem: string };

/** Returns the text of a word, with `UNKNOWN` for unknown parts. */
export function toPattern({ text, isGlob }: ShellWord): string {
  return isGlob ? text.replaceAll(/[*?]|\[.*\]|[[\]]/g, UNKNOWN) : text;
}

/** Returns the text of a word that is fully known. */
export function toKnownText(word: ShellWord): string | undefined {
  return word.isMany || word.text.includes(UNKNOWN) ? undefined : word.text;
}

/** Returns the name of a program if it is known, even without its folder. */
export function toKnownName(word: ShellWord): string | undefined {
  const name = toProgramName(toPattern(word));
  if (word.isMany || name.includes(UNKNOWN)) return undefined;
  return /^ld(?:-linux|-musl|\.so)/.test(name) ? "ld.so" : name;
}

/** True if a word may be anything, even an option. A word with a folder is the name of a file. */
export function isOpen(word: ShellWord): boolean {
  return word.isMany || (word.text.startsWith(UNKNOWN) && !word.text.includes("/"));
}

export function isOption(text: string): boolean {
  return text.length > 1 && text.startsWith("-");
}

/** Shows a word in its original form, in one short line. */
export function toShown({ source }: ShellWord): string {
  return source.replaceAll(/\s+/g, " ").slice(0, 200);
}

/** Returns a program's name: `/usr/bin/Find` is find, as is find.exe. */
export function toProgramName(word: string): string {
  const name = word.slice(word.lastIndexOf("/") + 1).toLowerCase();
  return name.replace(/\.(?:cmd|exe)$/, "");
}
