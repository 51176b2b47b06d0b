/** Writes lines to stdout: one write() a line (C4), never faster than the reader, never blocking the process. */
import { constants, fstatSync, openSync, writeSync } from "node:fs";
import { Socket } from "node:net";

/** A sink for lines. */
export interface LineOutput {
  /** Undefined once the line is out; a promise when the reader is slow. Throws or rejects when stdout is closed or full. */
  write(line: string): Promise<void> | undefined;
}

/** Longest pause between two tries on a pipe that is full. Milliseconds. */
const MAX_PAUSE_MS = 20;

/**
 * A blocked write() would keep the process from hearing signals (C23). So a pipe is opened anew without blocking
 * (the flag then is ours alone), a socket goes through Node's event loop; files and terminals do not block for long.
 */
export function createLineOutput(descriptor: number): LineOutput {
  const stat = fstatSync(descriptor);
  if (stat.isSocket()) return createSocketOutput(descriptor);
  if (stat.isFIFO() && process.platform === "linux") {
    return createDescriptorOutput(openSync(`/proc/self/fd/${descriptor}`, constants.O_WRONLY | constants.O_NONBLOCK));
  }
  return createDescriptorOutput(descriptor);
}

function createDescriptorOutput(descriptor: number): LineOutput {
  /** Bytes of `buffer` that are out, starting at `offset`. */
  const writeRest = async (buffer: Buffer, start: number): Promise<void> => {
    let offset = start;
    for (let pause = 1; offset < buffer.length; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
      await new Promise((resolve) => {
        setTimeout(resolve, pause);
      });
      const written = tryWrite(descriptor, buffer, offset);
      offset += written;
      if (written > 0) pause = 1;
    }
  };
  return {
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

function createSocketOutput(descriptor: number): LineOutput {
  const socket = new Socket({ fd: descriptor, readable: false, writable: true });
  let failure: Error | undefined;
  socket.on("error", (error) => {
    failure = error;
  });
  return {
    write(line) {
      if (failure) throw failure;
      let settle: ((error: Error | null | undefined) => void) | undefined;
      socket.write(line, (error) => settle?.(error));
      // Anything left in the buffer means that the reader is slow; the next line waits until it is gone.
      if (socket.writableLength === 0) return undefined;
      return new Promise((resolve, reject) => {
        settle = (error) => (error ? reject(error) : resolve());
      });
    },
  };
}
