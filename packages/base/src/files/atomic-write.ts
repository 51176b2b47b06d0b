/** Writes files whole or not at all (S-23, R-16). */
import { randomUUID } from "node:crypto";
import {
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
  statSync,
  unlinkSync,
  writeFile,
} from "node:fs";
import { posix } from "node:path";
import { createFileFault, type FileResult, getFaultCode, runFileWork } from "./file-error.ts";
import { checkOrdinary, type FileIdentity, isSameFile, toFileIdentity } from "./open-file.ts";
import { openFolder } from "./open-folder.ts";
import { findProtection } from "./protected-names.ts";
import type { Workspace, WorkspacePath } from "./workspace.ts";

/**
 * Writes a new file next to the old one, which it replaces once it is on disk. It copies mode and owner as far as the
 * system allows, but no extended attributes. Other names of a hard-linked file keep the old content. `expected` is the
 * file as it was read, undefined if none existed: if it has changed, it stays as it is. `newMode` are the
 * permission bits of a new file, less the process's mask. Errors: PROTECTED_PATH, STALE_FILE, IS_A_DIRECTORY,
 * NOT_A_FILE, READ_ONLY, DISK_FULL, PERMISSION_DENIED and others.
 */
export async function writeFileAtomically(
  workspace: Workspace,
  path: WorkspacePath,
  bytes: Uint8Array,
  expected: FileIdentity | undefined,
  newMode = 0o666,
): Promise<FileResult<void>> {
  const protection = findProtection(workspace, path);
  if (protection) return { ok: false, error: protection };
  return runFileWork(path.named, async () => {
    const folder = openFolder(workspace.root, posix.dirname(path.relative), { create: true });
    try {
      const target = folder.entry(posix.basename(path.relative));
      const temporary = folder.entry(`.sheaf-${randomUUID()}.tmp`);
      const current = readCurrent(target, expected);
      if (current) checkWritable(target);
      const mode = current ? Number(current.mode) & 0o7777 : newMode;
      // Even for a moment, no more people can read the file than the final one.
      await writeTemporaryFile(temporary, bytes, mode & 0o777, (descriptor) => {
        if (current) takeOver(descriptor, current, mode);
        else setFolderOwner(descriptor, folder.entry("."));
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

/** Returns the current file. @throws STALE_FILE if it is not the expected one. */
function readCurrent(target: string, expected: FileIdentity | undefined): BigIntStats | undefined {
  const stats = lstatSync(target, { bigint: true, throwIfNoEntry: false });
  if (stats) checkOrdinary(stats);
  if (!isSameFile(stats && toFileIdentity(stats), expected)) throw createFileFault("STALE_FILE");
  return stats;
}

/** Opens the file: `access` would follow a link that has just appeared (S-84). @throws EACCES, EROFS and others. */
function checkWritable(target: string): void {
  try {
    closeSync(openSync(target, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK));
  } catch (error) {
    // Even a running program can be replaced.
    if (getFaultCode(error) !== "ETXTBSY") throw error;
  }
}

/** Gives the new file the old one's owner and mode. It leaves an owner that this user cannot set. */
function takeOver(descriptor: number, current: BigIntStats, mode: number): void {
  const own = fstatSync(descriptor, { bigint: true });
  let kept = mode;
  if (own.uid !== current.uid || own.gid !== current.gid) {
    // Another owner's rights must not become this user's.
    if (!setOwner(descriptor, Number(current.uid), Number(current.gid))) kept &= 0o777;
  }
  if ((Number(own.mode) & 0o7777) !== kept) fchmodSync(descriptor, kept);
}

/** Gives a new file of root the owner of its folder, who could not change it otherwise. */
function setFolderOwner(descriptor: number, folder: string): void {
  if (process.geteuid?.() !== 0) return;
  const { uid, gid } = statSync(folder);
  setOwner(descriptor, uid, gid);
}

/** Returns false for an owner that this user cannot set, or that its namespace does not know. */
function setOwner(descriptor: number, uid: number, gid: number): boolean {
  try {
    fchownSync(descriptor, uid, gid);
    return true;
  } catch (error) {
    if (!["EPERM", "EINVAL"].includes(getFaultCode(error))) throw error;
    return false;
  }
}

/** Puts the file into place. A new file never replaces a file that has appeared since. */
function place(temporary: string, target: string, current: BigIntStats | undefined): void {
  if (current) {
    renameSync(temporary, target);
    return;
  }
  try {
    moveToFreeName(temporary, target);
  } catch (error) {
    throw getFaultCode(error) === "EEXIST" ? createFileFault("STALE_FILE") : error;
  }
}

/** Errors of a file system without hard links. */
const linkRefusals: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

/** Moves a file by a hard link, which never replaces a file. @throws EEXIST and other errors of the file system. */
export function moveToFreeName(source: string, destination: string): void {
  try {
    linkSync(source, destination);
  } catch (error) {
    if (!linkRefusals.has(getFaultCode(error))) throw error;
    if (lstatSync(destination, { throwIfNoEntry: false })) throw createFileFault("EEXIST");
    renameSync(source, destination);
    return;
  }
  unlinkSync(source);
}

const FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * Writes a new file and waits until it is on disk. Before that, it calls `finish` with the descriptor. On failure it
 * removes the file. @throws an error of the file system.
 */
export async function writeTemporaryFile(
  path: string,
  bytes: Uint8Array,
  mode: number,
  finish?: (descriptor: number) => void,
): Promise<void> {
  const descriptor = openSync(path, FLAGS, mode);
  const { promisify } = process.getBuiltinModule("node:util");
  try {
    await promisify(writeFile)(descriptor, bytes);
    finish?.(descriptor);
    await promisify(fsync)(descriptor);
  } catch (error) {
    discardTemporaryFile(path);
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** Never throws, since the caller reports its own failure. */
function discardTemporaryFile(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // The file stays under its own name and is harmless.
  }
}
