/**
 * Pipes for what commands print. Those of `spawn` are socket pairs, with which `echo > /dev/stderr` fails, and each read
 * of them takes new memory: output without end makes it faster than it is given back. So commands write into
 * FIFOs.
 */
import type { Readable } from "node:stream";
import { createFifos, type Fifo, type Fifos } from "./fifos.ts";
import type { StreamName } from "./output-streams.ts";

/** Standard output and error of one command. */
export interface CommandPipes {
  /** For `spawn`, as descriptors 1 and 2. */
  readonly stdio: readonly [number | "pipe", number | "pipe"];
  /** Their names for other processes of this user, until they are closed; undefined where they have none. */
  readonly paths: readonly [string, string] | undefined;
  /** When the command has its ends: reads to the end. A chunk is valid during its call only. `own`: what `spawn` made. */
  follow(own: OwnPipes, onChunk: (stream: StreamName, chunk: Uint8Array) => void): void;
  /** Resolves when all has been read and nobody can write any more. */
  readonly ended: Promise<void>;
  /** Reads no more; whoever still writes gets EPIPE. Called when the command has ended, or when it never started. */
  close(): void;
}

/** Where `spawn` was told to make pipes. */
export interface OwnPipes {
  readonly stdout: Readable | null;
  readonly stderr: Readable | null;
}

/** Gives each command of a run its pipes. */
export interface OutputPipes {
  open(): CommandPipes;
  close(): void;
}

/** One end of a command's output: what `spawn` gets, and how it is read. */
interface OutputPipe {
  readonly stdio: number | "pipe";
  readonly path?: string;
  follow(own: Readable | null, onChunk: (chunk: Uint8Array) => void): void;
  readonly ended: Promise<void>;
  close(): void;
}

/** Where no FIFO can be made, commands get plain pipes. */
export function createOutputPipes(fifos: Fifos = createFifos()): OutputPipes {
  const openPipe = (): OutputPipe => {
    const fifo = fifos.open();
    return fifo ? toOutputPipe(fifo) : createPlainPipe();
  };
  return {
    open() {
      const [stdout, stderr] = [openPipe(), openPipe()];
      return {
        stdio: [stdout.stdio, stderr.stdio],
        paths: stdout.path === undefined || stderr.path === undefined ? undefined : [stdout.path, stderr.path],
        follow(own, onChunk) {
          stdout.follow(own.stdout, (chunk) => onChunk("stdout", chunk));
          stderr.follow(own.stderr, (chunk) => onChunk("stderr", chunk));
        },
        ended: waitForBoth(stdout.ended, stderr.ended),
        close() {
          stdout.close();
          stderr.close();
        },
      };
    },
    close: () => fifos.close(),
  };
}

async function waitForBoth(first: Promise<void>, second: Promise<void>): Promise<void> {
  await first;
  await second;
}

function toOutputPipe(fifo: Fifo): OutputPipe {
  return {
    stdio: fifo.writer,
    path: fifo.path,
    ended: fifo.ended,
    follow(_, onChunk) {
      fifo.closeWriter();
      fifo.read(onChunk);
    },
    close: () => fifo.close(),
  };
}

/** As `spawn` makes it. */
function createPlainPipe(): OutputPipe {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  let stream: Readable | null = null;
  return {
    stdio: "pipe",
    ended,
    follow(own, onChunk) {
      stream = own;
      stream?.on("data", onChunk);
      stream?.once("close", () => resolve());
    },
    close: () => stream?.destroy(),
  };
}
