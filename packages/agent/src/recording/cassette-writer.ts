/** Writes a cassette while the run goes on, so that a killed run leaves a readable one. */
import { randomUUID } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { toJsonLine } from "@sheaf/protocol/encode";
import { SheafError } from "@sheaf/base/errors";
import type { CassetteHeader, CassetteRecord } from "./cassette.ts";

export interface CassetteWriter {
  /** Buffers a record until the next `flush`. */
  write(record: CassetteHeader | CassetteRecord): void;
  /** Writes the buffered records to the file. @throws SheafError STORAGE_FULL or INTERNAL; nothing is written after that. */
  flush(): void;
  close(): void;
}

/**
 * Opens a file for a recording, with mode 0600. Replaces an older cassette; a run that still writes that one goes on
 * writing to the unlinked file, so that two runs never mix.
 * @throws SheafError USAGE when the file cannot be written, or is not a cassette.
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
  try {
    const target = findTarget(file);
    return openNewFile(target ?? file, dirname(target ?? file));
  } catch (error) {
    if (error instanceof SheafError) throw error;
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new SheafError("USAGE", `the cassette ${file} cannot be written (${reason}): name another file`, {
      cause: error,
    });
  }
}

/** Path of the older cassette, links resolved; undefined: none exists. @throws SheafError USAGE if it is not a cassette. */
function findTarget(file: string): string | undefined {
  let descriptor: number;
  try {
    // O_RDWR, so that a pipe does not block and a read-only file is an error.
    descriptor = openSync(file, constants.O_RDWR | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    const stats = fstatSync(descriptor);
    const head = Buffer.alloc(beginning.length);
    if (stats.isFile() && stats.size > 0) readSync(descriptor, head, 0, head.length, 0);
    if (!stats.isFile() || (stats.size > 0 && head.toString() !== beginning)) {
      throw new SheafError("USAGE", `${file} is not a cassette, and is not overwritten: name a new file`);
    }
    return realpathSync(file);
  } finally {
    closeSync(descriptor);
  }
}

/** The new file gets its name at once, so that a killed run leaves what it recorded. */
function openNewFile(target: string, folder: string): number {
  const temporary = join(folder, `.sheaf-${randomUUID()}.tmp`);
  const descriptor = openSync(temporary, "wx", 0o600);
  try {
    renameSync(temporary, target);
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    rmSync(temporary, { force: true });
    throw error;
  }
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
