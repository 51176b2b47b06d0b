/**
 * Pipes for a command's output. The pipes of `spawn` are socket pairs: `echo > /dev/stderr` cannot open them, and each
 * read allocates a buffer, so that endless output allocates faster than memory is freed. So a command writes
 * into two FIFOs, which Sheaf reads into one buffer.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, constants, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { makeRunFolder, type OwnFolders } from "../hold/own-folders.ts";
import { findProgram } from "../programs.ts";
import type { StreamName } from "./output-streams.ts";

/** Standard output and error of one command. */
export interface CommandPipes {
  /** Values for `spawn`, as descriptors 1 and 2. */
  readonly stdio: readonly [number | "pipe", number | "pipe"];
  /** Input of a process that waits for a byte before it starts: a FIFO, which does not end with this process. */
  readonly gate: number | "pipe";
  /** Reads both streams to their ends; called right after `spawn`. A chunk is valid during its call only. */
  follow(child: ChildProcess, onChunk: OnChunk): void;
  /** Resolves when everything is read and no process can write to the pipes. */
  readonly ended: Promise<unknown>;
  /** Stops reading: a process that still writes gets EPIPE. Call it when the command has ended or never started. */
  close(): void;
}

type OnChunk = (stream: StreamName, chunk: Uint8Array) => void;

/** Descriptors of one FIFO. */
interface Fifo {
  readonly reader: number;
  readonly writer: number;
}

interface CommandFifos {
  readonly output: readonly [Fifo, Fifo];
  readonly gate: number;
}

const streamNames = ["stdout", "stderr"] as const;
/** Bytes; the capacity of a FIFO. */
const bufferSize = 64 * 1024;

/** Makes the pipes of one launcher's commands. */
export interface PipeMaker {
  open(): Promise<CommandPipes>;
  /** Closes the pipes that were made in advance. */
  close(): void;
}

/** Number of commands for which FIFOs are made at once, since this starts a program. */
const spareCommands = 16;

/** Makes FIFOs, or uses the pipes of `spawn` if no FIFO can be created. */
export function createPipeMaker(place: OwnFolders = { writable: [] }): PipeMaker {
  const spare: CommandFifos[] = [];
  return {
    async open() {
      if (spare.length === 0 && process.platform === "linux") spare.push(...(await openFifos(place)));
      const fifos = spare.pop();
      return fifos ? toPipes(fifos) : createPlainPipes();
    },
    close: () => spare.splice(0).forEach(closeFifos),
  };
}

/** Makes FIFOs, if possible. It removes their names at once, so that other processes cannot open them. */
async function openFifos(place: OwnFolders): Promise<CommandFifos[]> {
  const program = findProgram("mkfifo", {});
  if (program === undefined) return [];
  const opened: CommandFifos[] = [];
  let folder: string | undefined;
  try {
    folder = makeRunFolder(place);
    const groups = Array.from({ length: spareCommands }, (_, number) =>
      [...streamNames, "gate"].map((name) => `${folder}/${number}-${name}`),
    );
    // Mode 666: a command may become another user in its sandbox, and open its output again by name.
    const maker = spawn(program, ["-m", "666", ...groups.flat()], { cwd: "/", env: {}, stdio: "ignore" });
    await new Promise((resolve, reject) => void maker.once("exit", resolve).once("error", reject));
    for (const [stdout = "", stderr = "", gate = ""] of groups)
      opened.push({ output: [openFifo(stdout), openFifo(stderr)], gate: openSync(gate, constants.O_RDWR) });
    return opened;
  } catch {
    opened.forEach(closeFifos);
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

function closeFifos({ output, gate }: CommandFifos): void {
  output.forEach(closeFifo);
  closeSync(gate);
}

function toPipes({ output: fifos, gate }: CommandFifos): CommandPipes {
  const { promise: ended, resolve } = Promise.withResolvers<unknown>();
  let sockets: readonly Socket[] | undefined;
  let isClosed = false;
  const closeWriters = (): void => fifos.forEach(({ writer }) => closeSync(writer));
  return {
    stdio: [fifos[0].writer, fifos[1].writer],
    gate,
    follow(_, onChunk) {
      // The command has inherited its own. While these stay open, no reader sees an end.
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
      if (!isClosed) closeSync(gate);
      isClosed = true;
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
    gate: "pipe",
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
