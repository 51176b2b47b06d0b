/** The shell that runs commands: bash if it is there, else sh; never with start files (S-12). */
import type { Environment } from "./environment.ts";
import { findProgram } from "./find-program.ts";

/** A program and what stands before the command. */
export interface Shell {
  /** Absolute. */
  readonly file: string;
  readonly args: readonly string[];
  readonly isBash: boolean;
}

/** Bash without its start files; else sh. */
export function findShell(environment: Environment): Shell {
  const bash = findProgram("bash", environment);
  // `--`: a command that begins with "-" is a command and no option.
  if (bash !== undefined) return { file: bash, args: ["--noprofile", "--norc", "-c", "--"], isBash: true };
  return { file: "/bin/sh", args: ["-c", "--"], isBash: false };
}
