/** What a shell command will run, as far as that is known beforehand (S-11). */

/** One word as the program gets it. */
export interface ShellWord {
  readonly text: string;
  /** The shell puts names of files in its place; `text` is then the pattern. It never begins with a wildcard or `-`. */
  readonly isGlob: boolean;
}

/** A program with its arguments. Its redirections, if any, reach no file. The first word is not a pattern. */
export type SimpleCommand = readonly ShellWord[];

/** Everything that a command runs; each part of it may run or not. */
export interface ShellReading {
  readonly commands: readonly SimpleCommand[];
  /** The first command is followed by `&&`, and all else by `&&` and pipes: what follows it runs only if it succeeds. */
  readonly isChain: boolean;
}

/** The reading, or which part of the command cannot be known, in a few words. */
export type ShellResult =
  | { readonly ok: true; readonly reading: ShellReading }
  | { readonly ok: false; readonly problem: string };

/** Reads commands as bash does, and reports what it does not know with certainty (S-11). */
export interface ShellReader {
  read(command: string): ShellResult;
}
