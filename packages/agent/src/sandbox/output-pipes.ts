/**
 * Pipes for what commands print. Those of `spawn` are socket pairs, with which `echo > /dev/stderr` fails, and each read
 * of them takes new memory: output without end makes it faster than it is given back. So commands write into
 * FIFOs, and all of these are read into one buffer.
 */
import { type ChildProcess, spawnSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { findProgram } from "./find-program.ts";
import type { StreamName } from "./output-streams.ts";
import { toRunPrefix } from "./private-folder.ts";

/** Standard output and error of one command. */
export interface CommandPipes {
  /** For `spawn`, as descriptors 1 and 2. */
  readonly stdio: readonly [number | "pipe", number | "pipe"];
  /** Right behind `spawn`: reads to the end. A chunk is valid during its call only. */
  follow(child: ChildProcess, onChunk: (stream: StreamName, chunk: Uint8Array) => void): void;
  /** Resolves when all has been read and nobody can write any more. */
  readonly ended: Promise<void>;
  /** Reads no more; whoever still writes gets EPIPE. Called when the command has ended, or when it never started. */
  close(): void;
}

/** Gives each command of a run its pipes. */
export interface OutputPipes {
  open(): CommandPipes;
  close(): void;
}

/** One end of a command's output: what `spawn` gets, and how it is read. */
interface OutputPipe {
  readonly stdio: number | "pipe";
  /** `own`: what `spawn` made, where it was told to. */
  follow(own: Readable | null, onChunk: (chunk: Uint8Array) => void): void;
  readonly ended: Promise<void>;
  close(): void;
}

/** Made by one call of `mkfifo`. */
const batchSize = 8;
/** Bytes; a FIFO holds as many. */
const bufferSize = 64 * 1024;

/** Makes FIFOs with the first command; where none can be made, commands get plain pipes. */
export function createOutputPipes(): OutputPipes {
  // Descriptors by which a FIFO that has no name is opened again and again; in those at hand is nothing, and nobody writes.
  const free: number[] = [];
  let isOpen = process.platform === "linux";
  let buffer: Uint8Array | undefined;

  const take = (): number | undefined => {
    if (isOpen && free.length === 0) free.push(...makeFifos(batchSize));
    if (free.length === 0) isOpen = false;
    return free.pop();
  };
  const openPipe = (): OutputPipe => {
    const fifo = take();
    if (fifo === undefined) return createPlainPipe();
    buffer ??= Buffer.allocUnsafeSlow(bufferSize);
    return (
      openFifo(fifo, buffer, (isEmpty) => {
        if (isEmpty && isOpen) free.push(fifo);
        else closeSync(fifo);
      }) ?? createPlainPipe()
    );
  };
  return {
    open() {
      const [stdout, stderr] = [openPipe(), openPipe()];
      return {
        stdio: [stdout.stdio, stderr.stdio],
        follow(child, onChunk) {
          stdout.follow(child.stdout, (chunk) => onChunk("stdout", chunk));
          stderr.follow(child.stderr, (chunk) => onChunk("stderr", chunk));
        },
        ended: waitForBoth(stdout.ended, stderr.ended),
        close() {
          stdout.close();
          stderr.close();
        },
      };
    },
    close() {
      isOpen = false;
      for (const fifo of free.splice(0)) closeSync(fifo);
    },
  };
}

async function waitForBoth(first: Promise<void>, second: Promise<void>): Promise<void> {
  await first;
  await second;
}

/** Descriptors of new FIFOs; none where they cannot be made. Their names are gone at once: nobody else opens them. */
function makeFifos(count: number): number[] {
  const program = findProgram("mkfifo", {});
  if (program === undefined) return [];
  const descriptors: number[] = [];
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(tmpdir(), toRunPrefix()));
    const files = Array.from({ length: count }, (_, index) => `${folder}/${index}`);
    // A command may be another user's in its sandbox, and opens its own output again: `> /dev/stderr`.
    spawnSync(program, ["-m", "666", ...files], { cwd: "/", env: {}, stdio: "ignore" });
    for (const file of files) descriptors.push(openSync(file, constants.O_RDONLY | constants.O_NONBLOCK));
  } catch {
    // As many as there are.
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
  return descriptors;
}

/** `giveBack`: once, with whether it was read to its end. Undefined, with the FIFO given back, if it cannot be opened. */
function openFifo(fifo: number, buffer: Uint8Array, giveBack: (isEmpty: boolean) => void): OutputPipe | undefined {
  const path = `/proc/self/fd/${fifo}`;
  const opened: number[] = [];
  try {
    opened.push(openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), openSync(path, constants.O_WRONLY));
  } catch {
    for (const descriptor of opened) closeSync(descriptor);
    giveBack(false);
    return undefined;
  }
  const [reader, writer] = opened as [number, number];
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  let socket: Socket | undefined;
  let hasEnded = false;
  let isClosed = false;
  return {
    stdio: writer,
    ended,
    follow(_, onChunk) {
      closeSync(writer);
      socket = new Socket({
        fd: reader,
        readable: true,
        writable: false,
        onread: {
          buffer,
          callback(length) {
            onChunk(buffer.subarray(0, length));
            return true;
          },
        },
      });
      socket.on("error", () => undefined);
      socket.once("end", () => (hasEnded = true));
      socket.once("close", () => resolve());
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      if (socket) socket.destroy();
      else for (const descriptor of opened) closeSync(descriptor);
      // Not before the command has ended: it could still open its output again.
      giveBack(hasEnded);
    },
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
