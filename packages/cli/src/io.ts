/** The place where a command runs, for whom, and with which streams. */
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

/** What a command gets from the process around it. */
export interface CommandIo extends ProcessPorts {
  readonly environment: Environment;
  /** Folder in which Sheaf was started. */
  readonly cwd: string;
  /** Whose habits arguments and output have (C30). */
  readonly dialect: CliDialect;
  /** What was given for another program, and has no use here (C45, C47). */
  readonly notices?: readonly Notice[];
  /** Settings of the dialect that Sheaf has no flags for. */
  readonly settings?: DialectSettings | undefined;
  readonly openSpeech?: ((talk: Talk) => Speech) | undefined;
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
