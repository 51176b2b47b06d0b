/** Folders kept open, so that nothing swapped in after a check is followed (S-21). */
import { closeSync, constants, lstatSync, mkdirSync, openSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { createFileFault, getFaultCode } from "./file-error.ts";

/** A folder that stays the same one, whatever happens to its name. */
export interface OpenFolder {
  /** Path of an entry of this very folder, for the next calls to the file system; "." for the folder. */
  entry(name: string): string;
  close(): void;
}

/** Opens a folder without the right to list it; of Linux, not in Node's table. */
const O_PATH = 0x20_0000;
const FOLDER_FLAGS = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Opens the folder `relative` below `root`, name by name, and follows no link on the way: `relative` comes from
 * `Workspace.resolve`, so a link in it has appeared since. With `create`, missing folders are created.
 * Calls are synchronous, since a lookup takes microseconds.
 * @throws an error of the file system; ELOOP for a link, ENOTDIR for anything else that is not a folder.
 */
export function openFolder(root: string, relative: string, options: { readonly create?: boolean } = {}): OpenFolder {
  const names = relative.split("/").filter((name) => name !== "" && name !== ".");
  return process.platform === "linux" ? openByDescriptors(root, names, options) : openByPath(root, names, options);
}

/** `/proc/self/fd/N/name` is looked up from the open folder N, as `openat` does. */
function openByDescriptors(root: string, names: readonly string[], options: { readonly create?: boolean }): OpenFolder {
  let descriptor = openSync(root, FOLDER_FLAGS);
  try {
    for (const name of names) {
      const child = openChild(`/proc/self/fd/${descriptor}/${name}`, options);
      closeSync(descriptor);
      descriptor = child;
    }
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  const opened = descriptor;
  return { entry: (name) => `/proc/self/fd/${opened}/${name}`, close: () => closeSync(opened) };
}

function openChild(path: string, options: { readonly create?: boolean }): number {
  try {
    return openSync(path, FOLDER_FLAGS);
  } catch (error) {
    const code = getFaultCode(error);
    if (code === "ENOTDIR" && lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
      throw createFileFault("ELOOP");
    if (code !== "ENOENT" || !options.create) throw error;
  }
  makeFolder(path);
  return openSync(path, FOLDER_FLAGS);
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if (getFaultCode(error) !== "EEXIST") throw error;
  }
}

/** Without `/proc` the folder is checked once more before use; later changes are not noticed. */
function openByPath(root: string, names: readonly string[], options: { readonly create?: boolean }): OpenFolder {
  const folder = join(root, ...names);
  if (options.create) mkdirSync(folder, { recursive: true });
  if (realpathSync(folder) !== folder) throw createFileFault("ELOOP");
  return { entry: (name) => join(folder, name), close: () => undefined };
}
