/** Writes lines to stdout: one write() a line (C4), never faster than the reader, never blocking the process. */
import { constants, fstatSync, openSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import { toVisibleJson, toVisibleText } from "@sheaf/agent/output/visible-text";
import type { CommandIo } from "./io.ts";
import { reportOutputError } from "./report-error.ts";

/** A sink for lines. */
export interface LineOutput {
  /** Undefined once the line is out; a promise when the reader is slow. Throws or rejects when stdout is closed or full. */
  write(line: string): Promise<void> | undefined;
}

/** Time that a reader may stall once the process must end: at 1 KB/s a pipe has room every 4 s. Milliseconds. */
const LAST_WAIT_MS = 8000;

/** `code` of the error for a reader that took nothing all that time. */
export const stuckReaderCode = "ETIMEDOUT";

export interface LineOutputOptions {
  /** Returns true after a signal or a timeout: from then on Sheaf waits only for a reader that takes something (C23). */
  readonly isEnding?: () => boolean;
}

/** Longest pause between two tries on a pipe that is full. Milliseconds. */
const MAX_PAUSE_MS = 20;

/**
 * A blocked write() would keep the process from hearing signals (C23), so the descriptor of a pipe or a socket must not
 * block: a pipe is opened anew (the flag then is ours alone); a socket, and a pipe that may not be opened, is switched by
 * handing it to Node.
 * Files and terminals do not block for long. Direct writes cost a third of those through a stream.
 */
export function createLineOutput(descriptor: number, options: LineOutputOptions = {}): LineOutput {
  const stat = fstatSync(descriptor);
  if (stat.isSocket()) return createSwitchedOutput(descriptor, options);
  if (stat.isFIFO() && process.platform === "linux") {
    const ownDescriptor = openAnew(descriptor);
    if (ownDescriptor === undefined) return createSwitchedOutput(descriptor, options);
    return createDescriptorOutput(ownDescriptor, options);
  }
  return createDescriptorOutput(descriptor, options);
}

/** Undefined where that is not allowed: the pipe of another user (under `su` or `sudo`), or no /proc. */
function openAnew(descriptor: number): number | undefined {
  try {
    return openSync(`/proc/self/fd/${descriptor}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}

/** Node switches a descriptor that it is handed, and back when the process ends. */
function createSwitchedOutput(descriptor: number, options: LineOutputOptions): LineOutput {
  const owner = new Socket({ fd: descriptor, readable: false, writable: true });
  owner.unref();
  return createDescriptorOutput(descriptor, options, owner);
}

/** `owner` would close the descriptor if it were collected: the output keeps it. */
function createDescriptorOutput(
  descriptor: number,
  { isEnding = () => false }: LineOutputOptions,
  owner?: Socket,
): LineOutput & { readonly owner?: Socket } {
  /** Bytes of `buffer` that are out, starting at `offset`. */
  const writeRest = async (buffer: Buffer, start: number): Promise<void> => {
    let offset = start;
    let waitsUntil: number | undefined;
    for (let pause = 1; offset < buffer.length; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
      await new Promise((resolve) => {
        setTimeout(resolve, pause);
      });
      const written = tryWrite(descriptor, buffer, offset);
      offset += written;
      if (written > 0) pause = 1;
      if (written > 0 || !isEnding()) waitsUntil = undefined;
      else waitsUntil ??= performance.now() + LAST_WAIT_MS;
      if (waitsUntil !== undefined && performance.now() > waitsUntil) throw createStuckReaderError();
    }
  };
  return {
    ...(owner && { owner }),
    write(line) {
      const buffer = Buffer.from(line);
      const written = tryWrite(descriptor, buffer, 0);
      return written === buffer.length ? undefined : writeRest(buffer, written);
    },
  };
}

/** Bytes written; 0 when the pipe is full. */
function tryWrite(descriptor: number, buffer: Buffer, offset: number): number {
  try {
    return writeSync(descriptor, buffer, offset);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EAGAIN") return 0;
    throw error;
  }
}

function createStuckReaderError(): NodeJS.ErrnoException {
  return Object.assign(new Error("the reader of stdout takes nothing"), { code: stuckReaderCode });
}

/** Writes a value as indented JSON, as `printText` does. */
export function printJson(io: CommandIo, value: unknown): Promise<number> {
  return printText(io, `${JSON.stringify(value, undefined, 2)}\n`, toVisibleJson);
}

/**
 * Writes the text; gives the exit code: 1 for a stdout that takes no more (C23). People show files and
 * pipes on terminals, so `toVisible` makes the text safe for all of them (S-70).
 */
export async function printText(io: CommandIo, text: string, toVisible = toVisibleText): Promise<number> {
  try {
    await io.openOutput().write(toVisible(text));
    return 0;
  } catch (error) {
    return reportOutputError(error as NodeJS.ErrnoException, false, io);
  }
}
