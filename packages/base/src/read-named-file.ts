/** Reads a file that the user named: an ordinary file, or a pipe such as `<(command)`. */
import { closeSync, constants, openSync, readSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";

/** Most bytes to read. */
const MAX_BYTES = 512 * 1024 * 1024;

/** Milliseconds between two looks at an empty pipe. */
const PAUSE_MS = 10;

const CHUNK_BYTES = 64 * 1024;

/**
 * Reads the file to its end as UTF-8. It waits for a writer of a pipe until the signal fires, and then throws the
 * signal's reason. It does not read devices or folders, since a device may be endless.
 * @throws Error with the fault of the file.
 */
export async function readNamedFile(file: string, signal?: AbortSignal): Promise<string> {
  const stats = await stat(file).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "ENOENT" ? new Error("the file does not exist", { cause: error }) : error;
  });
  if (stats.isFIFO()) return readPipe(file, signal);
  if (stats.isDirectory()) throw new Error("it is a folder");
  if (!stats.isFile()) throw new Error("it is neither a file nor a pipe");
  if (stats.size > MAX_BYTES) throw createSizeError();
  return readFile(file, "utf8");
}

/** Reads without blocking: a signal could not end a blocking read. */
async function readPipe(file: string, signal: AbortSignal | undefined): Promise<string> {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  const chunks: Buffer[] = [];
  let size = 0;
  let hasWriter = false;
  try {
    for (;;) {
      signal?.throwIfAborted();
      const chunk = readChunk(descriptor);
      if (chunk?.length === 0 && hasWriter) return Buffer.concat(chunks).toString();
      // A pipe without its first writer looks as if it had ended.
      hasWriter ||= chunk?.length !== 0;
      if (chunk && chunk.length > 0) {
        chunks.push(chunk);
        size += chunk.length;
        if (size > MAX_BYTES) throw createSizeError();
        if (chunks.length % 64 !== 0) continue;
      }
      await wait(PAUSE_MS);
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Reads a chunk; undefined if a writer has not written yet, empty if the pipe has no writer. */
function readChunk(descriptor: number): Buffer | undefined {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  try {
    return buffer.subarray(0, readSync(descriptor, buffer, 0, buffer.length, null));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EAGAIN") return undefined;
    throw error;
  }
}

function createSizeError(): Error {
  return new Error(`it is larger than ${MAX_BYTES} bytes`);
}
