/** Opens folders, so that Sheaf follows no link that has appeared since a check (S-21). */
import {
  chownSync,
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  statSync,
} from "node:fs";
import { dirname, join, posix } from "node:path";
import { createFileFault, getFaultCode } from "./file-error.ts";

/** A folder that stays the same one, whatever happens to its name. */
export interface OpenFolder {
  /** Returns a path of an entry in this very folder, for the next calls to the file system; "." for the folder. */
  entry(name: string): string;
  /** Opens a folder in this one as `openFolder` does; both stay open. */
  open(name: string, options?: FolderOptions): OpenFolder;
  close(): void;
}

export interface FolderOptions {
  readonly create?: boolean;
}

/** Linux's flag to open a folder without the right to list it. Node's table lacks it. */
const O_PATH = 0x20_0000;
const FOLDER_FLAGS = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Opens the folder `relative` below `root`, name by name, without following links: `relative` is a result of
 * `Workspace.resolve`, so a link in it has appeared since. With `create`, it creates missing folders. Calls are
 * synchronous, since a lookup takes microseconds.
 * @throws an error of the file system; ELOOP for a link, ENOTDIR for anything else that is not a folder.
 */
export function openFolder(root: string, relative: string, options: FolderOptions = {}): OpenFolder {
  const names = relative.split("/").filter((name) => name !== "" && name !== ".");
  if (process.platform !== "linux") return openByPath(join(root, ...names), options);
  let folder = toOpenFolder(openSync(root, FOLDER_FLAGS));
  for (const name of names) {
    const outer = folder;
    try {
      folder = outer.open(name, options);
    } finally {
      outer.close();
    }
  }
  return folder;
}

/** Opens a folder as `openFolder` does, and closes it after `work`. @throws as `openFolder`, or as `work`. */
export function withFolder<Value>(root: string, relative: string, work: (folder: OpenFolder) => Value): Value {
  const folder = openFolder(root, relative);
  try {
    return work(folder);
  } finally {
    folder.close();
  }
}

/** Opens the folder of an entry in the same way. `work` receives the entry's path in it. */
export function withEntry<Value>(
  root: string,
  relative: string,
  work: (entry: string) => Value,
  options?: FolderOptions,
): Value {
  const folder = openFolder(root, posix.dirname(relative), options);
  try {
    return work(folder.entry(posix.basename(relative)));
  } finally {
    folder.close();
  }
}

/** The names in a folder. @throws as `openFolder`. */
export function readNames(root: string, relative: string): string[] {
  return withFolder(root, relative, (folder) => readdirSync(folder.entry(".")));
}

/** Opens by descriptor: the system looks up `/proc/self/fd/N/name` from the open folder N, as `openat` does. */
function toOpenFolder(descriptor: number): OpenFolder {
  const entry = (name: string): string => `/proc/self/fd/${descriptor}/${name}`;
  return {
    entry,
    open: (name, options = {}) => toOpenFolder(openChild(entry(name), options)),
    close: () => closeSync(descriptor),
  };
}

function openChild(path: string, options: FolderOptions): number {
  try {
    return openSync(path, FOLDER_FLAGS);
  } catch (error) {
    const code = getFaultCode(error);
    if (code === "ENOTDIR" && lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
      throw createFileFault("ELOOP");
    if (code !== "ENOENT" || !options.create) throw error;
  }
  const isNew = makeFolder(path);
  const descriptor = openSync(path, FOLDER_FLAGS);
  if (isNew && process.geteuid?.() === 0) setOuterOwner(descriptor, dirname(path));
  return descriptor;
}

/** Returns false if another process made the folder meanwhile. */
function makeFolder(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if (getFaultCode(error) !== "EEXIST") throw error;
    return false;
  }
}

/** Gives a new folder of root the outer folder's owner, unless the system refuses. `fchown` refuses such a descriptor. */
function setOuterOwner(descriptor: number, outer: string): void {
  const { uid, gid } = statSync(outer);
  try {
    chownSync(`/proc/self/fd/${descriptor}`, uid, gid);
  } catch (error) {
    if (!["EPERM", "EINVAL"].includes(getFaultCode(error))) throw error;
  }
}

/** Checks the folder once more before its use, for systems without `/proc`, which show no later changes. */
function openByPath(folder: string, options: FolderOptions): OpenFolder {
  if (options.create) mkdirSync(folder, { recursive: true });
  if (realpathSync(folder) !== folder) throw createFileFault("ELOOP");
  return {
    entry: (name) => join(folder, name),
    open: (name, inner = {}) => openByPath(join(folder, name), inner),
    close: () => undefined,
  };
}
