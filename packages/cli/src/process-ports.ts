/** The streams and signals that a command takes from the process around it. A test gives its own in their place. */
import type { Readable } from "node:stream";
import { isTerminal } from "./io.ts";
import type { SignalSource } from "./signals.ts";
import { toInputKind, type InputKind } from "./standard-input.ts";
import { createLineOutput, type LineOutput, type LineOutputOptions } from "./standard-output.ts";

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
