/** Creates the file of an SQLite database, which SQLite itself would create for all users. */
import { chmodSync, closeSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { createFileFault } from "./files/file-error.ts";
import { makeFolder } from "./make-folder.ts";

/** Endings of the files that SQLite opens. */
const endings = ["", "-wal", "-shm", "-journal"];

/** Creates a missing file with its folder: 0600 and 0700 (S-42). @throws an error of the file system, NOT_A_FILE. */
export function makeDatabaseFile(file: string): void {
  checkDatabaseFiles(file);
  makeFolder(dirname(file));
  closeSync(openSync(file, "a", 0o600));
  chmodSync(file, 0o600);
}

/** @throws NOT_A_FILE for a pipe, which would block. */
export function checkDatabaseFiles(file: string): void {
  for (const ending of endings) {
    const isOrdinary = statSync(`${file}${ending}`, { throwIfNoEntry: false })?.isFile() ?? true;
    if (!isOrdinary) throw createFileFault("NOT_A_FILE");
  }
}
