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
