/** Creates Sheaf's folders. */
import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Creates a folder, and those above it, for this user alone (0700). An existing folder stays as it is. `recursive` does
 * not work here: if a folder cannot be created, as below `/proc`, Node would retry for ever.
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
