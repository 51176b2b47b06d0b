/** What a shell command will run, as far as that is known beforehand (S-11). */

/** Stands in a word for any text that is known only when the command runs. No command contains it. */
export const UNKNOWN = "\0";

/** One word as the program gets it. */
export interface ShellWord {
  /** With `UNKNOWN` for what is not known. */
  readonly text: string;
  /** The shell puts names of files in its place; `text` is then the pattern. */
  readonly isGlob: boolean;
  /** The shell may make several words of it, or none. */
  readonly isMany: boolean;
  /** As it is written. */
  readonly source: string;
}

/** A program with its arguments. */
export type SimpleCommand = readonly ShellWord[];

/** Everything that a command runs; each part of it may run or not. */
export interface ShellReading {
  /** At any depth: in lists, loops, functions and substitutions. */
  readonly commands: readonly SimpleCommand[];
  /** Values of variables, which programs may run (`GIT_EDITOR=…`). */
  readonly settings: readonly ShellWord[];
  /** The first command is followed by `&&`, and all else by `&&` and pipes: what follows it runs only if it succeeds. */
  readonly isChain: boolean;
  /**
   * What no allow rule can judge, in a few words; undefined: nothing. Then the commands are at the top, their first
   * words are no patterns, no pattern begins with a wildcard or `-`, and redirections reach no file.
   */
  readonly obstacle: string | undefined;
}

/** The reading, or which part of the command cannot be read, in a few words. */
export type ShellResult =
  | { readonly ok: true; readonly reading: ShellReading }
  | { readonly ok: false; readonly problem: string };

/** The text of a word, with `UNKNOWN` for what is not known. */
export function toPattern({ text, isGlob }: ShellWord): string {
  return isGlob ? text.replaceAll(/[*?]|\[.*\]|[[\]]/g, UNKNOWN) : text;
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

/** True if a word may be anything, an option too. With a folder in it, it is the name of a file. */
export function isOpen(word: ShellWord): boolean {
  return word.isMany || (word.text.startsWith(UNKNOWN) && !word.text.includes("/"));
}

export function isOption(text: string): boolean {
  return text.length > 1 && text.startsWith("-");
}

/** A word as it is written, in one short line. */
export function toShown({ source }: ShellWord): string {
  return source.replaceAll(/\s+/g, " ").slice(0, 200);
}

/** `/usr/bin/Find` is find, and so is find.exe. */
export function toProgramName(word: string): string {
  const name = word.slice(word.lastIndexOf("/") + 1).toLowerCase();
  return name.replace(/\.(?:cmd|exe)$/, "");
}
