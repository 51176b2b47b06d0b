/** The surroundings of a command: folder, dialect and streams. */
import { fstatSync } from "node:fs";
import type { Readable } from "node:stream";
import type { Notice } from "@sheaf/protocol";
import type { Environment } from "@sheaf/base/paths";
import type { FlagValues } from "./flags.ts";
import type { CliDialect, DialectSettings, Speech } from "./dialects/dialect.ts";
import type { Talk } from "./dialects/two-way.ts";
import type { SignalSource } from "./signals.ts";
import { toInputKind, type InputKind } from "./standard-input.ts";
import { createLineOutput, type LineOutput, type LineOutputOptions } from "./standard-output.ts";

/** The ports of a command to the process around it. */
export interface CommandIo extends ProcessPorts {
  readonly environment: Environment;
  /** Folder in which Sheaf was started. */
  readonly cwd: string;
  /** Dialect of the arguments and the output (C30). */
  readonly dialect: CliDialect;
  /** Notices about arguments that were meant for another program (C45, C47). */
  readonly notices?: readonly Notice[];
  /** Settings of the dialect that no flag of Sheaf has. */
  readonly settings?: DialectSettings | undefined;
  readonly openSpeech?: ((talk: Talk) => Speech) | undefined;
}

/** True in print mode: by its flag, or because stdout isn't a terminal or stdin is piped (C1). */
export function isPrintMode(flags: FlagValues, io: Pick<CommandIo, "isInputTerminal" | "isOutputTerminal">): boolean {
  return flags.print === true || flags["input-format"] !== undefined || !io.isOutputTerminal || !io.isInputTerminal;
}

/** True for a terminal. `process.stdin.isTTY` would create a stream for every stdin, and load the code of streams. */
function isTerminal(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isCharacterDevice() && process.getBuiltinModule("node:tty").isatty(descriptor);
  } catch {
    return false;
  }
}

/** The streams and signals of a command. */
export interface ProcessPorts {
  /** Path of the file that was started. */
  readonly program: string;
  readonly isInputTerminal: boolean;
  readonly isOutputTerminal: boolean;
  readonly isErrorTerminal: boolean;
  readonly findInputKind: () => InputKind;
  /** Returns stdin; reading starts with the first call. */
  readonly openInput: () => Readable;
  readonly openOutput: (options?: LineOutputOptions) => LineOutput;
  readonly writeError: (text: string) => void;
  readonly signals: SignalSource;
  /** Ends the process at once. */
  readonly exit: (code: number) => void;
  /** Start of the process by the clock of `performance.now()`, in milliseconds. */
  readonly startedAt: number;
}

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
