/** Files that are written whole or not at all. */
import { randomUUID } from "node:crypto";
import { closeSync, constants, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Replaces a file, by default for its user alone (S-42). @throws errors of the file system; it stays unchanged. */
export function replaceFile(file: string, text: string, mode = 0o600): void {
  const temporary = join(dirname(file), `.sheaf-${randomUUID()}.tmp`);
  try {
    writeNewFile(temporary, text, mode);
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Creates a file. @throws EEXIST for an existing file or link, and other errors of the file system. */
export function writeNewFile(file: string, text: string, mode = 0o600): void {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const descriptor = openSync(file, flags, mode);
  try {
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
