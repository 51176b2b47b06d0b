/** What a shell command says, as far as it can be known before it runs (S-11). */

/** One word as the program gets it. */
export interface ShellWord {
  readonly text: string;
  /** The shell puts names of files in its place; `text` is then the pattern. It never begins with a wildcard or `-`. */
  readonly isGlob: boolean;
}

/** A program with its arguments. Its redirections, if any, reach no file. The first word is no pattern. */
export type SimpleCommand = readonly ShellWord[];

/** Everything that a command runs; each part of it may run or not. */
export interface ShellReading {
  readonly commands: readonly SimpleCommand[];
  /** The first command is followed by `&&`, and all else by `&&` and pipes: what follows it runs only if it succeeds. */
  readonly isChain: boolean;
}

/** The reading, or what stands in the command that cannot be known, in a few words. */
export type ShellResult =
  | { readonly ok: true; readonly reading: ShellReading }
  | { readonly ok: false; readonly problem: string };

/** Reads commands as bash does. What it does not know with certainty, it says it does not (S-11). */
export interface ShellReader {
  read(command: string): ShellResult;
}
