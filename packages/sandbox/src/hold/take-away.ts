/**
 * Removes places that a command must not have created, without losing them. Commands in the background may swap folders
 * with links at the same time. So each step acts in an open folder, and never touches a place outside of the folders
 * that commands write (S-78).
 */
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { createFileFault, getFaultCode } from "@sheaf/base/files/file-error";
import { type OpenFolder, openFolder } from "@sheaf/base/files/open-folder";
import { isBelow } from "@sheaf/base/files/workspace";
import { readStat, toIdentity } from "./folder-memory.ts";
import { makeRefuge, type OwnFolders } from "./own-folders.ts";

/** A file or folder to take away. */
export interface RefusedPlace {
  /** Absolute path. */
  readonly path: string;
  /** Device and inode, if known; another place at the path stays. */
  readonly identity?: string | undefined;
  /** The reason, without a full stop. */
  readonly reason: string;
}

/** Most sentences of one call. The last one sums up the rest, since the model reads them. */
const maxSentences = 20;

/**
 * Moves each place out of the folders that commands write, into a folder that commands cannot see. Returns a sentence
 * for each, for the model and the user, without a path that the model could use. `onMoved` receives each place's old
 * and new path.
 */
export function takeAway(
  places: readonly RefusedPlace[],
  own: OwnFolders,
  onMoved?: (path: string, target: string) => void,
): string[] {
  if (places.length === 0) return [];
  const refuge = makeRefuge(own);
  const sentences = places.flatMap((place, position) => {
    // A command chose the name, and the model reads it.
    const name = basename(place.path)
      .replaceAll(/[^\w.-]/g, "_")
      .slice(0, 60);
    const target = join(refuge, `${position}-${name}`);
    const outcome = moveAway(place, target, own.writable);
    if (outcome === movedAway) onMoved?.(place.path, target);
    return outcome === undefined ? [] : `${place.reason}${outcome}`;
  });
  if (sentences.length === 0) rmdirSync(refuge);
  const rest = sentences.length - maxSentences;
  if (rest <= 0) return sentences;
  return [...sentences.slice(0, maxSentences), `Sheaf moved ${rest} more away.`];
}

const movedAway = ": Sheaf moved it away. If it is needed, tell the user that sheaf doctor shows where it is.";

/** Returns the end of the sentence; undefined if the place has disappeared, or can be reached only through a link. */
function moveAway(place: RefusedPlace, target: string, tops: readonly string[]): string | undefined {
  const failure = ", but it could not be moved away: tell the user to look at it before using git or an editor here.";
  const top = tops.find((folder) => isBelow(place.path, folder));
  if (top === undefined || top === place.path) return failure;
  try {
    return moveOpened(place, target, top);
  } catch (error) {
    if (["ENOENT", "ELOOP", "ENOTDIR"].includes(getFaultCode(error))) return undefined;
  }
  try {
    // A command may have taken the right to write from its owner.
    makeAccessible(dirname(place.path), tops);
    if (readStat(place.path)?.isDirectory()) makeAccessible(place.path, tops);
    return moveOpened(place, target, top);
  } catch {
    return failure;
  }
}

function moveOpened({ path, identity }: RefusedPlace, target: string, top: string): string | undefined {
  const folder = openFolder(top, relative(top, dirname(path)));
  try {
    const entry = findEntry(folder, basename(path));
    const stat = lstatSync(entry, { bigint: true });
    if (identity !== undefined && toIdentity(stat) !== identity) return undefined;
    try {
      renameSync(entry, target);
    } catch (error) {
      if (getFaultCode(error) !== "EXDEV") throw error;
      return moveByCopy(folder, entry, target);
    }
    return movedAway;
  } finally {
    folder.close();
  }
}

/** Renames the place at once, since copying may take long. A place that cannot be copied must not stay: it may run. */
function moveByCopy(folder: OpenFolder, entry: string | Buffer, target: string): string {
  const aside = basename(dirname(target));
  renameSync(entry, folder.entry(aside));
  try {
    copyAway(folder, aside, target);
    return movedAway;
  } catch (error) {
    copyAway(folder, aside, undefined);
    return `: Sheaf deleted it, since not all of it could be moved away (${getFaultCode(error)}).`;
  }
}

/** Finds the entry by its bytes if its name is not UTF-8, because several such names have the same text. */
function findEntry(folder: OpenFolder, name: string): string | Buffer {
  if (!name.includes("\uFFFD")) return folder.entry(name);
  const names = readdirSync(folder.entry("."), "buffer");
  const foreign = names.find((bytes) => bytes.toString() === name && !bytes.equals(Buffer.from(name)));
  return foreign ? Buffer.concat([Buffer.from(folder.entry("")), foreign]) : folder.entry(name);
}

/** Moves a place to another file system, or deletes it without a `target`. Links stay links. */
function copyAway(folder: OpenFolder, name: string, target: string | undefined): void {
  const entry = folder.entry(name);
  const stat = lstatSync(entry);
  if (stat.isDirectory()) {
    copyFolderAway(folder.open(name), target);
    rmdirSync(entry);
    return;
  }
  if (target !== undefined && stat.isSymbolicLink()) symlinkSync(readlinkSync(entry), target);
  else if (target !== undefined && stat.isFile()) copyFile(entry, target);
  unlinkSync(entry);
}

function copyFolderAway(folder: OpenFolder, target: string | undefined): void {
  try {
    if (target !== undefined) mkdirSync(target, { mode: 0o700 });
    chmodSync(folder.entry(""), 0o700);
    for (const name of readdirSync(folder.entry("."))) copyAway(folder, name, target && join(target, name));
  } finally {
    folder.close();
  }
}

/** Linux's flag to open a place without the right to read it, and without waiting. Node's table lacks it. */
const O_PATH = 0x20_0000;

function copyFile(entry: string, target: string): void {
  const descriptor = openSync(entry, O_PATH | constants.O_NOFOLLOW);
  try {
    if (!fstatSync(descriptor).isFile()) throw createFileFault("NOT_A_FILE");
    const opened = `/proc/self/fd/${descriptor}`;
    chmodSync(opened, 0o600);
    copyFileSync(opened, target, constants.COPYFILE_EXCL);
  } finally {
    closeSync(descriptor);
  }
}

/** Lets the owner list, enter and write a folder, and enter those around it. @throws an error of the file system. */
export function makeAccessible(path: string, tops: readonly string[]): void {
  const top = tops.find((around) => isBelow(path, around));
  if (top === undefined) return;
  const folder = openFolder(top, relative(top, path));
  try {
    const { mode, uid } = lstatSync(folder.entry(""));
    if (uid === process.geteuid?.() && (mode & 0o700) !== 0o700) chmodSync(folder.entry(""), (mode & 0o7777) | 0o700);
  } finally {
    folder.close();
  }
}
