/** Small files of a foreign folder, read at once and without waiting: a pipe, a device or a huge file is none. */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/** The text of an ordinary file of at most `maxBytes`, no link; undefined for anything else. */
export function readSmallFile(file: string, maxBytes: number): string | undefined {
  return readSmallBytes(file, maxBytes)?.toString();
}

/** Its bytes. */
export function readSmallBytes(file: string, maxBytes: number): Buffer | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile() || stats.size > maxBytes) return undefined;
    const buffer = Buffer.alloc(stats.size);
    return buffer.subarray(0, readSync(descriptor, buffer, 0, buffer.length, 0));
  } catch {
    return undefined;
  } finally {
    closeSync(descriptor);
  }
}
