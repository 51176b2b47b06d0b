/**
 * Pipes for what a command prints. Those of `spawn` are socket pairs, which `echo > /dev/stderr` cannot open, and each
 * read of them allocates a buffer: endless output allocates faster than memory is freed. So a command writes into
 * two FIFOs, which are read into one buffer.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { toRunPrefix } from "../hold/mounts.ts";
import { findProgram } from "../programs.ts";
import type { StreamName } from "./output-streams.ts";

/** Standard output and error of one command. */
export interface CommandPipes {
  /** For `spawn`, as descriptors 1 and 2. */
  readonly stdio: readonly [number | "pipe", number | "pipe"];
  /** Right after `spawn`: reads both to their ends. A chunk is valid during its call only. */
  follow(child: ChildProcess, onChunk: OnChunk): void;
  /** Resolves when everything has been read and nobody can write any more. */
  readonly ended: Promise<unknown>;
  /** Stops reading: whoever still writes gets EPIPE. To be called when the command has ended or never started. */
  close(): void;
}

type OnChunk = (stream: StreamName, chunk: Uint8Array) => void;

/** Descriptors of one FIFO. */
interface Fifo {
  readonly reader: number;
  readonly writer: number;
}

const streamNames = ["stdout", "stderr"] as const;
/** Bytes; the capacity of a FIFO. */
const bufferSize = 64 * 1024;

/** Makes the pipes of one launcher's commands. */
export interface PipeMaker {
  open(): Promise<CommandPipes>;
  /** Closes what no command has used. */
  close(): void;
}

/** FIFOs are made for so many commands at once: a program has to start for it. */
const spareCommands = 8;

/** FIFOs, or the pipes of `spawn` where no FIFO can be created. `writable`: folders that other commands write. */
export function createPipeMaker(writable: readonly string[] = []): PipeMaker {
  const spare: (readonly [Fifo, Fifo])[] = [];
  return {
    async open() {
      if (spare.length === 0 && process.platform === "linux") spare.push(...(await openFifos(writable)));
      const fifos = spare.pop();
      return fifos ? toPipes(fifos) : createPlainPipes();
    },
    close: () => spare.splice(0).flat().forEach(closeFifo),
  };
}

/** None where none can be created. Their names are removed at once, so that nobody else can open them. */
async function openFifos(writable: readonly string[]): Promise<(readonly [Fifo, Fifo])[]> {
  const program = findProgram("mkfifo", {});
  if (program === undefined) return [];
  const opened: Fifo[] = [];
  let folder: string | undefined;
  try {
    folder = mkdtempSync(toRunPrefix(writable));
    const files = Array.from({ length: 2 * spareCommands }, (_, number) => `${folder}/${number}`);
    // Mode 666: a command may become another user in its sandbox, and open its output again by name.
    const maker = spawn(program, ["-m", "666", ...files], { cwd: "/", env: {}, stdio: "ignore" });
    await new Promise((resolve, reject) => void maker.once("exit", resolve).once("error", reject));
    for (const file of files) opened.push(openFifo(file));
    return Array.from({ length: spareCommands }, (_, number) => [opened[2 * number]!, opened[2 * number + 1]!]);
  } catch {
    opened.forEach(closeFifo);
    return [];
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

function openFifo(file: string): Fifo {
  const reader = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return { reader, writer: openSync(file, constants.O_WRONLY) };
  } catch (error) {
    closeSync(reader);
    throw error;
  }
}

function closeFifo({ reader, writer }: Fifo): void {
  closeSync(reader);
  closeSync(writer);
}

function toPipes(fifos: readonly [Fifo, Fifo]): CommandPipes {
  const { promise: ended, resolve } = Promise.withResolvers<unknown>();
  let sockets: readonly Socket[] | undefined;
  const closeWriters = (): void => fifos.forEach(({ writer }) => closeSync(writer));
  return {
    stdio: [fifos[0].writer, fifos[1].writer],
    follow(_, onChunk) {
      // The command has its own by now; while these are open, no reader sees an end.
      closeWriters();
      const buffer = Buffer.allocUnsafeSlow(bufferSize);
      sockets = fifos.map(({ reader }, index) =>
        readFifo(reader, buffer, (chunk) => onChunk(streamNames[index]!, chunk)),
      );
      resolve(Promise.all(sockets.map(toEnd)));
    },
    ended,
    close() {
      for (const socket of sockets ?? []) socket.destroy();
      if (sockets) return;
      sockets = [];
      fifos.forEach(closeFifo);
    },
  };
}

function readFifo(reader: number, buffer: Uint8Array, onChunk: (chunk: Uint8Array) => void): Socket {
  const onread = {
    buffer,
    callback(length: number) {
      onChunk(buffer.subarray(0, length));
      return true;
    },
  };
  return new Socket({ fd: reader, readable: true, writable: false, onread }).on("error", () => undefined);
}

function toEnd(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once("close", () => resolve()));
}

function createPlainPipes(): CommandPipes {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  let followed: ChildProcess | undefined;
  return {
    stdio: ["pipe", "pipe"],
    follow(child, onChunk) {
      followed = child;
      for (const name of streamNames) child[name]?.on("data", (chunk: Uint8Array) => onChunk(name, chunk));
      child.once("close", () => resolve());
    },
    ended,
    close() {
      for (const name of streamNames) followed?.[name]?.destroy();
    },
  };
}
