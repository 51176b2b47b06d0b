/**
 * FIFOs without a name: processes of this user open them by a path of `/proc`, commands in a sandbox cannot. They are
 * used again and again, and all are read into one buffer.
 */
import { spawn, spawnSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram } from "./find-program.ts";
import { toRunPrefix } from "./private-folder.ts";

/** Both ends are open, and nothing is in it. */
export interface Fifo {
  /** For other processes of this user, until it is closed. */
  readonly path: string;
  /** This process's own end for writing: while it is open, no reader sees an end. */
  readonly writer: number;
  closeWriter(): void;
  /** Once: reads to the end. A chunk is valid during its call only. */
  read(onChunk: (chunk: Uint8Array) => void): void;
  /** Resolves when all has been read and nobody can write any more. */
  readonly ended: Promise<void>;
  /** Reads no more. It is used again if it is empty, and nobody can write into it. */
  close(): void;
}

export interface Fifos {
  /** Makes some if none are at hand. Without it the first `open` makes them, while all else waits. */
  prepare(): Promise<void>;
  /** Undefined where none can be made. */
  open(): Fifo | undefined;
  close(): void;
}

/** Made by one call of `mkfifo`; a command and the sandbox of the next one take seven or less each. */
const batchSize = 14;
/** Bytes; a FIFO holds as many. */
const bufferSize = 64 * 1024;

/** Makes the first ones when they are wanted. */
export function createFifos(): Fifos {
  // Descriptors by which a FIFO that has no name is opened again and again; in those at hand is nothing, and nobody writes.
  const free: number[] = [];
  let isOpen = process.platform === "linux";
  let buffer: Uint8Array | undefined;
  let making: Promise<void> | undefined;
  const make = async (): Promise<void> => {
    const batch = nameFifos();
    if (!batch) return;
    try {
      const child = spawn(batch.program, batch.args, spawnOptions);
      await new Promise<void>((resolve) => {
        child.once("error", () => resolve());
        child.once("exit", () => resolve());
      });
    } catch {
      // Then none of them is there.
    }
    free.push(...openAll(batch));
  };
  return {
    async prepare() {
      if (!isOpen || free.length > 0) return;
      making ??= make().finally(() => (making = undefined));
      await making;
    },
    open() {
      if (isOpen && free.length === 0) {
        const batch = nameFifos();
        if (batch) {
          spawnSync(batch.program, batch.args, spawnOptions);
          free.push(...openAll(batch));
        }
      }
      const fifo = free.pop();
      if (fifo === undefined) {
        isOpen = false;
        return undefined;
      }
      buffer ??= Buffer.allocUnsafeSlow(bufferSize);
      return openFifo(fifo, buffer, (isEmpty) => {
        if (isEmpty && isOpen) free.push(fifo);
        else closeSync(fifo);
      });
    },
    close() {
      isOpen = false;
      for (const fifo of free.splice(0)) closeSync(fifo);
    },
  };
}

const spawnOptions = { cwd: "/", env: {}, stdio: "ignore" } as const;

/** FIFOs that are to be made. */
interface FifoBatch {
  readonly program: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly files: readonly string[];
}

/** Undefined where none can be made. */
function nameFifos(): FifoBatch | undefined {
  const program = findProgram("mkfifo", {});
  if (program === undefined) return undefined;
  try {
    const folder = mkdtempSync(join(tmpdir(), toRunPrefix()));
    const files = Array.from({ length: batchSize }, (_, index) => `${folder}/${index}`);
    // A command may be another user's in its sandbox, and opens its own output again: `> /dev/stderr`.
    return { program, args: ["-m", "666", ...files], folder, files };
  } catch {
    return undefined;
  }
}

/** Descriptors of those that are there. Their names are gone at once: nobody else opens them. */
function openAll({ folder, files }: FifoBatch): number[] {
  const descriptors: number[] = [];
  try {
    for (const file of files) descriptors.push(openSync(file, constants.O_RDONLY | constants.O_NONBLOCK));
  } catch {
    // As many as there are.
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return descriptors;
}

/** `giveBack`: once, with whether it can be used again. Undefined, with the FIFO given back, if it cannot be opened. */
function openFifo(fifo: number, buffer: Uint8Array, giveBack: (isEmpty: boolean) => void): Fifo | undefined {
  const own = `/proc/self/fd/${fifo}`;
  const opened: number[] = [];
  try {
    opened.push(openSync(own, constants.O_RDONLY | constants.O_NONBLOCK), openSync(own, constants.O_WRONLY));
  } catch {
    for (const descriptor of opened) closeSync(descriptor);
    giveBack(false);
    return undefined;
  }
  const [reader, writer] = opened as [number, number];
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  let socket: Socket | undefined;
  let isWritable = true;
  let isClosed = false;
  const closeWriter = (): void => {
    if (isWritable) closeSync(writer);
    isWritable = false;
  };
  return {
    path: `/proc/${process.pid}/fd/${fifo}`,
    writer,
    closeWriter,
    ended,
    read(onChunk) {
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
      socket.once("close", () => resolve());
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      closeWriter();
      if (socket) socket.destroy();
      else closeSync(reader);
      // Not before the command has ended: it could still open its output again, also behind its end.
      giveBack(isAtEnd(fifo));
    },
  };
}

/** Nothing is in it, and nobody can write. */
function isAtEnd(reader: number): boolean {
  try {
    return readSync(reader, Buffer.alloc(1)) === 0;
  } catch {
    return false;
  }
}
