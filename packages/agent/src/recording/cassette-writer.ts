/** Writes a cassette as the run goes on, so that a killed run leaves one that can be read. */
import { closeSync, constants, fchmodSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from "node:fs";
import { toJsonLine } from "@sheaf/protocol";
import { SheafError } from "../errors.ts";
import type { CassetteHeader, CassetteRecord } from "./cassette.ts";

export interface CassetteWriter {
  /** Takes a record; it is on its way to the file at the next `flush`. */
  write(record: CassetteHeader | CassetteRecord): void;
  /** Hands what was taken over to the system. @throws SheafError STORAGE_FULL or INTERNAL; afterwards nothing is written. */
  flush(): void;
  close(): void;
}

/**
 * Opens a file for a recording: mode 0600, an older cassette in it is replaced.
 * @throws SheafError USAGE when the file cannot be written, or holds something else than a cassette.
 */
export function createCassetteWriter(file: string): CassetteWriter {
  const descriptor = openFile(file);
  let waiting = "";
  let isOpen = true;

  const flush = (): void => {
    if (waiting === "" || !isOpen) return;
    const bytes = Buffer.from(waiting);
    waiting = "";
    try {
      for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
    } catch (error) {
      isOpen = false;
      closeSync(descriptor);
      throw toWriteError(error, file);
    }
  };

  return {
    write(record) {
      if (isOpen) waiting += `${toJsonLine(record)}\n`;
    },
    flush,
    close() {
      flush();
      if (!isOpen) return;
      isOpen = false;
      closeSync(descriptor);
    },
  };
}

/** How a cassette begins, whatever its version. */
const beginning = '{"cassette":';

function openFile(file: string): number {
  let descriptor: number;
  try {
    descriptor = openSync(file, constants.O_RDWR | constants.O_CREAT, 0o600);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new SheafError("USAGE", `the cassette ${file} cannot be written (${reason}): name another file`, {
      cause: error,
    });
  }
  const stats = fstatSync(descriptor);
  const head = Buffer.alloc(beginning.length);
  if (
    !stats.isFile() ||
    (stats.size > 0 && (readSync(descriptor, head, 0, head.length, 0), head.toString() !== beginning))
  ) {
    closeSync(descriptor);
    throw new SheafError("USAGE", `${file} is no cassette, it is not written over: name a new file`);
  }
  fchmodSync(descriptor, 0o600);
  ftruncateSync(descriptor);
  return descriptor;
}

function toWriteError(error: unknown, file: string): SheafError {
  const { code = String(error) } = error as NodeJS.ErrnoException;
  const isFull = code === "ENOSPC" || code === "EDQUOT" || code === "EFBIG";
  const advice = isFull ? "free some space" : "check the disk, or record to another file";
  return new SheafError(
    isFull ? "STORAGE_FULL" : "INTERNAL",
    `the cassette ${file} cannot be written (${code}): ${advice}`,
    {
      cause: error,
      source: "storage",
    },
  );
}
