/** Writes lines to stdout: one write() per line (C4), never faster than the reader, never blocking the process. */
import { constants, fstatSync, openSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import { toVisibleJson, toVisibleText } from "@sheaf/agent/output/visible-text";
import type { CommandIo } from "./io.ts";
import { reportOutputError } from "./report-error.ts";

export interface LineOutput {
  /** Writes a line; returns a promise if the reader is slow. Throws or rejects if stdout is closed or full. */
  write(line: string): Promise<void> | undefined;
}

/** Milliseconds that a reader can stall after the process must end: at 1 KB/s a pipe has room every 4 s. */
const LAST_WAIT_MS = 8000;

/** Error code for a reader that accepted no output for that time. */
export const stuckReaderCode = "ETIMEDOUT";

export interface LineOutputOptions {
  /** Returns true after a signal or a timeout: from then on, Sheaf waits only for a reader that still reads (C23). */
  readonly isEnding?: () => boolean;
}

/** Longest pause between two tries on a full pipe, in milliseconds. */
const MAX_PAUSE_MS = 20;

/**
 * Creates the output. A blocked write() would keep the process from hearing signals (C23), so a pipe's or socket's
 * descriptor must not block: a pipe is opened again, which makes the flag ours alone; for a socket, or a pipe that
 * can't be opened, Node switches it. Files and terminals never block for long, and direct writes cost a third of a
 * stream's.
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

/** Opens a pipe again; undefined if that isn't allowed: another user's pipe (`su` or `sudo`), or no /proc. */
function openAnew(descriptor: number): number | undefined {
  try {
    return openSync(`/proc/self/fd/${descriptor}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}

/** Node switches the descriptor, and back when the process ends. */
function createSwitchedOutput(descriptor: number, options: LineOutputOptions): LineOutput {
  const owner = new Socket({ fd: descriptor, readable: false, writable: true });
  owner.unref();
  return createDescriptorOutput(descriptor, options, owner);
}

/** Writes to the descriptor. `owner` would close it if it were collected, so the output references it. */
function createDescriptorOutput(
  descriptor: number,
  { isEnding = () => false }: LineOutputOptions,
  owner?: Socket,
): LineOutput & { readonly owner?: Socket } {
  /** Writes the rest of a buffer, from `start` on, whenever the pipe has room. */
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

/** Writes, and returns the number of bytes; 0 if the pipe is full. */
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
 * Writes a text; returns the exit code, 1 if stdout accepts no more (C23). Users look at files and pipes on
 * terminals, so `toVisible` makes the text safe for all of them (S-70).
 */
export async function printText(io: CommandIo, text: string, toVisible = toVisibleText): Promise<number> {
  try {
    await io.openOutput().write(toVisible(text));
    return 0;
  } catch (error) {
    return reportOutputError(error as NodeJS.ErrnoException, false, io);
  }
}
