/** Where a command runs, for whom, and with which streams. */
import { fstatSync } from "node:fs";
import { basename } from "node:path";
import type { Readable } from "node:stream";
import { SheafError } from "@sheaf/base/errors";
import type { Notice } from "@sheaf/protocol";
import type { Environment } from "@sheaf/base/paths";
import type { FlagValues } from "./flags.ts";
import { cliProfiles, isCliProfile, type CliProfile } from "@sheaf/agent/output/projection";
import type { SignalSource } from "./signals.ts";
import { toInputKind, type InputKind } from "./standard-input.ts";
import { createLineOutput, type LineOutput, type LineOutputOptions } from "./standard-output.ts";

/** What a command gets from the process around it. */
export interface CommandIo extends ProcessPorts {
  readonly environment: Environment;
  /** Folder in which Sheaf was started. */
  readonly cwd: string;
  /** Whose habits the output has (C30). */
  readonly profile: CliProfile;
  /** What was given for another program, and has no use here (C45, C47). */
  readonly notices?: readonly Notice[];
}

/** Print mode: asked for, or inferred because stdout is not a terminal or stdin is piped (C1). */
export function isPrintMode(flags: FlagValues, io: Pick<CommandIo, "isInputTerminal" | "isOutputTerminal">): boolean {
  return flags.print === true || flags["input-format"] !== undefined || !io.isOutputTerminal || !io.isInputTerminal;
}

/** `process.stdin.isTTY` would make a stream of what is not a terminal, and load what streams need. */
function isTerminal(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isCharacterDevice() && process.getBuiltinModule("node:tty").isatty(descriptor);
  } catch {
    return false;
  }
}

/** Names of the program that `cursor-2026` imitates. */
export const aliasNames: readonly string[] = ["cursor-agent", "agent"];

/** @throws SheafError USAGE for an unknown profile; the message lists the known ones. */
export function chooseProfile(compat: string | undefined, program: string): CliProfile {
  if (compat === undefined) {
    return aliasNames.includes(basename(program).replace(/\.(exe|cmd|js)$/i, "")) ? "cursor-2026" : "sheaf";
  }
  if (isCliProfile(compat)) return compat;
  throw new SheafError("USAGE", `--compat "${compat}" is unknown: use one of ${cliProfiles.join(", ")}`);
}

/** What a command reads, writes and listens to. */
export interface ProcessPorts {
  /** Path of the file that was started. */
  readonly program: string;
  readonly isInputTerminal: boolean;
  readonly isOutputTerminal: boolean;
  readonly isErrorTerminal: boolean;
  readonly findInputKind: () => InputKind;
  /** Stdin; nothing is read before the first call. */
  readonly openInput: () => Readable;
  readonly openOutput: (options?: LineOutputOptions) => LineOutput;
  readonly writeError: (text: string) => void;
  readonly signals: SignalSource;
  /** Ends the process at once. */
  readonly exit: (code: number) => void;
  /** When the process began, by the clock of `performance.now()`. Milliseconds. */
  readonly startedAt: number;
}

/** Those of this process. */
export function createProcessPorts(): ProcessPorts {
  const isInputTerminal = isTerminal(0);
  return {
    program: process.argv[1] ?? "",
    isInputTerminal,
    isOutputTerminal: isTerminal(1),
    isErrorTerminal: isTerminal(2),
    findInputKind: () => toInputKind(isInputTerminal),
    openInput: () => process.stdin,
    openOutput: (options) => createLineOutput(1, options),
    writeError: (text) => void process.stderr.write(text),
    signals: process,
    exit: (code) => process.exit(code),
    startedAt: 0,
  };
}
