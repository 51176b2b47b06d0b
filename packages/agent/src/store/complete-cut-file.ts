/** A store whose end is gone: SQLite refuses it whole, though what is in front can be read. */
import { closeSync, fstatSync, ftruncateSync, openSync, readSync } from "node:fs";

/** The header of a database file, by https://sqlite.org/fileformat.html. */
const headerBytes = 100;

/**
 * Makes a file that is shorter than its header says as long as it says, with zeros; gives whether it was shorter.
 * What lies on the lost pages stays damaged, everything else can be read. Nothing is overwritten.
 * Only for a file that SQLite has called damaged: one that another process is writing may look shorter for a moment.
 */
export function completeCutFile(file: string): boolean {
  const descriptor = openSync(file, "r+");
  try {
    const header = Buffer.alloc(headerBytes);
    const { size } = fstatSync(descriptor);
    if (readSync(descriptor, header, 0, headerBytes, 0) < headerBytes) return false;
    if (!header.toString("latin1").startsWith("SQLite format 3\0")) return false;
    const storedSize = header.readUInt16BE(16);
    const pageSize = storedSize === 1 ? 65_536 : storedSize;
    const whole = header.readUInt32BE(28) * pageSize;
    if (whole <= size || whole > size + maximalGap) return false;
    ftruncateSync(descriptor, whole);
    return true;
  } finally {
    closeSync(descriptor);
  }
}

/** Zeros take no room on the disk; beyond this the header itself is not believed. Bytes. */
const maximalGap = 2 ** 36;
