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

/** FIFOs, or the pipes of `spawn` where no FIFO can be created. `writable`: folders that other commands write. */
export async function openOutputPipes(writable: readonly string[] = []): Promise<CommandPipes> {
  const fifos = process.platform === "linux" ? await openFifos(writable) : undefined;
  return fifos ? toPipes(fifos) : createPlainPipes();
}

/** Undefined where none can be created. Their names are removed at once, so that nobody else can open them. */
async function openFifos(writable: readonly string[]): Promise<readonly [Fifo, Fifo] | undefined> {
  const program = findProgram("mkfifo", {});
  if (program === undefined) return undefined;
  const opened: number[] = [];
  let folder: string | undefined;
  try {
    folder = mkdtempSync(toRunPrefix(writable));
    const files = streamNames.map((name) => `${folder}/${name}`);
    // Mode 666: a command may become another user in its sandbox, and open its output again by name.
    const maker = spawn(program, ["-m", "666", ...files], { cwd: "/", env: {}, stdio: "ignore" });
    await new Promise((resolve, reject) => void maker.once("exit", resolve).once("error", reject));
    const [stdout, stderr] = files.map((file): Fifo => {
      const reader = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
      opened.push(reader);
      const writer = openSync(file, constants.O_WRONLY);
      opened.push(writer);
      return { reader, writer };
    });
    return [stdout!, stderr!];
  } catch {
    for (const descriptor of opened) closeSync(descriptor);
    return undefined;
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
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
      closeWriters();
      for (const { reader } of fifos) closeSync(reader);
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
