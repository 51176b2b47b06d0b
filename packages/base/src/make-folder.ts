/** Makes folders of Sheaf's own. */
import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder, and those above it, for this user alone (0700); one that is there stays as it is.
 * Not by `recursive`: where no folder can be made, as below `/proc`, Node would try for ever.
 * @throws an error of the file system.
 */
export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (isFolder(folder)) return;
    const above = dirname(folder);
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || above === folder || isFolder(above)) throw error;
    makeFolder(above);
    makeFolder(folder);
  }
}

export function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
