/** Files written whole or not at all (S-23, R-16). */
import { randomUUID } from "node:crypto";
import {
  accessSync,
  type BigIntStats,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsync,
  linkSync,
  lstatSync,
  openSync,
  renameSync,
  unlinkSync,
  writeFile,
  writeFileSync,
} from "node:fs";
import { posix } from "node:path";
import { createFileFault, type FileResult, getFaultCode, runFileWork } from "./file-error.ts";
import { checkOrdinary, type FileIdentity, isSameFile, toFileIdentity } from "./open-file.ts";
import { openFolder } from "./open-folder.ts";
import { findProtection } from "./protected-names.ts";
import type { WorkspacePath } from "./workspace.ts";

/**
 * Writes a file through a new one beside it, which takes its place once it is on the disk. Mode and owner are kept as
 * far as the system lets us, extended attributes are not; other names of a hard-linked file keep the old content.
 * `expected` is the file as it was read, undefined if there was none: if it is another one now, nothing is written.
 * `newMode` are the permission bits of a file that is new, less those that the process's mask takes away.
 * Errors: PROTECTED_PATH, STALE_FILE, IS_A_DIRECTORY, NOT_A_FILE, READ_ONLY, DISK_FULL, PERMISSION_DENIED and others.
 */
export async function writeFileAtomically(
  root: string,
  path: WorkspacePath,
  bytes: Uint8Array,
  expected: FileIdentity | undefined,
  newMode = 0o666,
): Promise<FileResult<void>> {
  const protection = findProtection(path);
  if (protection) return { ok: false, error: protection };
  return runFileWork(path.named, async () => {
    const folder = openFolder(root, posix.dirname(path.relative), { create: true });
    try {
      const target = folder.entry(posix.basename(path.relative));
      const temporary = folder.entry(`.sheaf-${randomUUID()}.tmp`);
      const current = readCurrent(target, expected);
      if (current) accessSync(target, constants.W_OK);
      const mode = current ? Number(current.mode) & 0o7777 : newMode;
      // Never readable by more people than the file that it is going to be.
      await writeTemporaryFile(temporary, bytes, mode & 0o777, (descriptor) => {
        if (current) takeOver(descriptor, current, mode);
      });
      try {
        place(temporary, target, readCurrent(target, expected));
      } catch (error) {
        discardTemporaryFile(temporary);
        throw error;
      }
    } finally {
      folder.close();
    }
  });
}

/** The file that stands there now. @throws STALE_FILE if it is not the expected one. */
function readCurrent(target: string, expected: FileIdentity | undefined): BigIntStats | undefined {
  const stats = lstatSync(target, { bigint: true, throwIfNoEntry: false });
  if (stats) checkOrdinary(stats);
  if (!isSameFile(stats && toFileIdentity(stats), expected)) throw createFileFault("STALE_FILE");
  return stats;
}

/** Gives the new file the owner and the mode of the old one; an owner that is not ours to give is left. */
function takeOver(descriptor: number, current: BigIntStats, mode: number): void {
  const own = fstatSync(descriptor, { bigint: true });
  let kept = mode;
  if (own.uid !== current.uid || own.gid !== current.gid) {
    try {
      fchownSync(descriptor, Number(current.uid), Number(current.gid));
    } catch (error) {
      if (getFaultCode(error) !== "EPERM") throw error;
      // Rights of another owner must not become rights of ours.
      kept &= 0o777;
    }
  }
  if ((Number(own.mode) & 0o7777) !== kept) fchmodSync(descriptor, kept);
}

/** A new file never takes the place of one that came up in the meantime. */
function place(temporary: string, target: string, current: BigIntStats | undefined): void {
  if (current) {
    renameSync(temporary, target);
    return;
  }
  try {
    linkSync(temporary, target);
  } catch (error) {
    const code = getFaultCode(error);
    if (code === "EEXIST") throw createFileFault("STALE_FILE");
    if (!isLinkUnsupported(code)) throw error;
    renameSync(temporary, target);
    return;
  }
  unlinkSync(temporary);
}

/** Whether a file system refuses hard links as such. */
export function isLinkUnsupported(code: string): boolean {
  return code === "EPERM" || code === "ENOTSUP" || code === "EOPNOTSUPP" || code === "ENOSYS" || code === "EMLINK";
}

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
function discardTemporaryFile(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It lies there under a name of its own and does no harm.
  }
}

function runAside(start: (done: (error: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => start((error) => (error ? reject(error) : resolve())));
}
