/** The shell that runs commands: bash if it is there, else sh; never with start files (S-12). */
import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { type Environment, toFixedPath } from "./environment.ts";

/** A program and what stands before the command. */
export interface Shell {
  /** Absolute. */
  readonly file: string;
  readonly args: readonly string[];
}

const commonFolders = ["/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"];

/** Looks for bash in the usual folders first, so that a PATH entry of a workspace cannot put another one before it. */
export function findShell(environment: Environment): Shell {
  const folders = [...commonFolders, ...toFixedPath(environment.PATH).split(":")];
  const bash = folders.map((folder) => join(folder, "bash")).find(isExecutable);
  // `--`: a command that begins with "-" is a command and no option.
  if (bash !== undefined) return { file: bash, args: ["--noprofile", "--norc", "-c", "--"] };
  return { file: "/bin/sh", args: ["-c", "--"] };
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
