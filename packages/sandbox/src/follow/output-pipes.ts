/**
 * Pipes for what a command prints. Those of `spawn` are socket pairs, which `echo > /dev/stderr` cannot open, and each
 * read of them allocates a buffer: endless output allocates faster than memory is freed. So a command writes into
 * two FIFOs, which are read into one buffer.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, constants, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { makeRunFolder, type OwnFolders } from "../hold/own-folders.ts";
import { findProgram } from "../programs.ts";
import type { StreamName } from "./output-streams.ts";

/** Standard output and error of one command. */
export interface CommandPipes {
  /** For `spawn`, as descriptors 1 and 2. */
  readonly stdio: readonly [number | "pipe", number | "pipe"];
  /**
   * For a process that waits for a byte before it begins. A FIFO, open for reading and writing: unlike a pipe it does not
   * end when this process ends.
   */
  readonly gate: number | "pipe";
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
  /** Closes what no command has used. */
  close(): void;
}

/** FIFOs are made for so many commands at once: a program has to start for it. */
const spareCommands = 16;

/** FIFOs, or the pipes of `spawn` where no FIFO can be created. */
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

/** None where none can be created. Their names are removed at once, so that nobody else can open them. */
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
