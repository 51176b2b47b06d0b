/** A file that the user named for output. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { SheafError } from "@sheaf/base/errors";
import { replaceFile } from "@sheaf/base/replace-file";

/**
 * Writes the file whole or not at all. A new file is readable only by its owner, since conversations are private.
 * @throws SheafError USAGE with the file's path.
 */
export function writeOutputFile(file: string, text: string, options: { readonly mode?: number } = {}): void {
  const target = resolve(file);
  // Replacing a device by a file would remove it for every user.
  if (isDevice(target)) throw new SheafError("USAGE", `${target} is not a file: name a file`);
  try {
    replaceFile(target, text, options.mode);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    throw new SheafError("USAGE", `${target} cannot be written (${code}): name another file`, { cause: error });
  }
}

/** True for a device, a pipe or a socket. */
function isDevice(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && !stats.isFile() && !stats.isDirectory();
}
