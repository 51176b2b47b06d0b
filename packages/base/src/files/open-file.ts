/** Opens ordinary files without waiting and without following a link. */
import { type BigIntStats, closeSync, constants, fstat, fstatSync, lstat, open, openSync, readSync } from "node:fs";
import { posix } from "node:path";
import { createFileFault } from "./file-error.ts";
import { openFolder, withEntry } from "./open-folder.ts";
import type { WorkspacePath } from "./workspace.ts";

/** Distinguishes states of a file without reading it. */
export interface FileIdentity {
  readonly device: bigint;
  readonly inode: bigint;
  readonly size: bigint;
  /** Time of the last change of the content. Nanoseconds since 1970. */
  readonly changedAt: bigint;
}

export interface OpenFile {
  readonly descriptor: number;
  readonly identity: FileIdentity;
  /** Bytes. */
  readonly size: number;
  /** Permission bits. */
  readonly mode: number;
  /** Number of the file's names. */
  readonly links: number;
}

/**
 * Opens a file for reading. Refuses a pipe, socket or device before it opens it, and never waits.
 * Works in the thread pool, so that a slow disk delays the caller alone. The caller closes it.
 * @throws an error of the file system; EISDIR, ELOOP, NOT_A_FILE.
 */
export async function openFile(root: string, path: WorkspacePath): Promise<OpenFile> {
  const { promisify } = process.getBuiltinModule("node:util");
  const folder = openFolder(root, posix.dirname(path.relative));
  try {
    const entry = folder.entry(posix.basename(path.relative));
    checkOrdinary(await promisify(lstat)(entry, { bigint: true }));
    const descriptor = await promisify(open)(entry, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      const stats = await promisify(fstat)(descriptor, { bigint: true });
      checkOrdinary(stats);
      const [size, mode] = [Number(stats.size), Number(stats.mode) & 0o7777];
      return { descriptor, identity: toFileIdentity(stats), size, mode, links: Number(stats.nlink) };
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
  } finally {
    folder.close();
  }
}

/** @throws EISDIR, ELOOP, NOT_A_FILE for anything but an ordinary file. */
export function checkOrdinary(stats: BigIntStats): void {
  if (stats.isDirectory()) throw createFileFault("EISDIR");
  if (stats.isSymbolicLink()) throw createFileFault("ELOOP");
  if (!stats.isFile()) throw createFileFault("NOT_A_FILE");
}

export function toFileIdentity(stats: BigIntStats): FileIdentity {
  return { device: stats.dev, inode: stats.ino, size: stats.size, changedAt: stats.mtimeNs };
}

export function isSameFile(one: FileIdentity | undefined, other: FileIdentity | undefined): boolean {
  if (!one || !other) return one === other;
  return (
    one.device === other.device &&
    one.inode === other.inode &&
    one.size === other.size &&
    one.changedAt === other.changedAt
  );
}

/** Reads a small file in a folder, without following links on the way; undefined as for `readSmallFile`. */
export function readSmallBytesIn(root: string, relative: string, maxBytes: number): Buffer | undefined {
  try {
    return withEntry(root, relative, (entry) => readSmallBytes(entry, maxBytes));
  } catch {
    return undefined;
  }
}

/** Reads a small text file without waiting. Undefined for a link, a pipe, a device or a larger file. */
export function readSmallFile(file: string, maxBytes: number): string | undefined {
  return readSmallBytes(file, maxBytes)?.toString();
}

function readSmallBytes(file: string, maxBytes: number): Buffer | undefined {
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
