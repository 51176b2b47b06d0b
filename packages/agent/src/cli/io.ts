/** What a command gets from the process around it. */
import { fstatSync } from "node:fs";
import type { Environment } from "../base/paths.ts";
import type { FlagValues } from "./flags.ts";
import type { CliProfile } from "../output/projection.ts";

export interface CommandIo {
  readonly environment: Environment;
  /** Folder in which Sheaf was started. */
  readonly cwd: string;
  /** Whose habits the output has (C30). */
  readonly profile: CliProfile;
  readonly isInputTerminal: boolean;
  readonly isOutputTerminal: boolean;
}

/** Print mode: asked for, or inferred because stdout is not a terminal or stdin is piped (C1). */
export function isPrintMode(flags: FlagValues, io: CommandIo): boolean {
  return flags.print === true || !io.isOutputTerminal || !io.isInputTerminal;
}

/** `process.stdin.isTTY` would make a stream of what is not a terminal, and load what streams need. */
export function isTerminal(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isCharacterDevice() && process.getBuiltinModule("node:tty").isatty(descriptor);
  } catch {
    return false;
  }
}
