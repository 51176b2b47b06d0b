/** New files under a name of their own, whole and on the disk before they take their place. */
import { closeSync, constants, fsync, openSync, unlinkSync, writeFile, writeFileSync } from "node:fs";

const FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** So much is written at once: it goes to memory, which takes less time than the way to the thread pool. Bytes. */
const SMALL_BYTES = 64 * 1024;

/**
 * Writes a new file and waits for the disk, so that others may run meanwhile. `finish` is called with the descriptor
 * between the two. When it fails, the file is gone. @throws an error of the file system.
 */
export async function writeTemporaryFile(
  path: string,
  bytes: Uint8Array,
  mode: number,
  finish?: (descriptor: number) => void,
): Promise<void> {
  const descriptor = openSync(path, FLAGS, mode);
  try {
    if (bytes.length <= SMALL_BYTES) writeFileSync(descriptor, bytes);
    else await runAside((done) => writeFile(descriptor, bytes, done));
    finish?.(descriptor);
    await runAside((done) => fsync(descriptor, done));
  } catch (error) {
    discardTemporaryFile(path);
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** What went wrong before is what must be told. */
export function discardTemporaryFile(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It lies there under a name of its own and does no harm.
  }
}

function runAside(start: (done: (error: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => start((error) => (error ? reject(error) : resolve())));
}
