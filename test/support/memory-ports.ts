/** Streams and signals of a command line that runs in the process of a test. */
import { EventEmitter } from "node:events";
import { PassThrough, type Readable } from "node:stream";
import type { ProcessPorts } from "../../packages/cli/src/io.ts";

/** What a test gives to a command line, and what it sees of it. */
export interface MemoryPortsOptions {
  /** Stdin; undefined: none. */
  /** Path of the program; default: none that exists. */
  readonly program?: string;
  readonly input?: Readable | undefined;
  /** Takes a line of stdout; a promise: the reader is slow. */
  readonly onOutput?: (text: string) => Promise<void> | undefined | void;
  readonly onError?: (text: string) => void;
}

/** Ports whose `signals` a test emits, such as `signals.emit("SIGTERM", "SIGTERM")`. */
export function createMemoryPorts({
  program = "sheaf",
  input,
  onOutput,
  onError,
}: MemoryPortsOptions = {}): ProcessPorts & {
  readonly signals: EventEmitter;
} {
  const stdin = input ?? new PassThrough();
  return {
    program,
    isInputTerminal: false,
    isOutputTerminal: false,
    isErrorTerminal: false,
    findInputKind: () => (input ? "pipe" : "none"),
    openInput: () => stdin,
    openOutput: () => ({
      write: (line) => onOutput?.(line) ?? undefined,
    }),
    writeError: (text) => onError?.(text),
    signals: new EventEmitter(),
    exit(code) {
      throw new Error(`the program would end at once with ${code}`);
    },
    startedAt: performance.now(),
  };
}
