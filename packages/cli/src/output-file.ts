/** A file that the user named for output. */
import { accessSync, constants, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { SheafError } from "@sheaf/base/errors";
import { replaceFile } from "@sheaf/base/replace-file";

/**
 * Writes the file whole or not at all. A new file is readable only by its owner, since conversations are private.
 * @throws SheafError USAGE with the file's path.
 */
export function writeOutputFile(file: string, text: string, options: { readonly mode?: number } = {}): void {
  useFile(resolve(file), (target) => replaceFile(target, text, options.mode));
}

/** Checks before a run that `writeOutputFile` can write the file after it. @throws SheafError USAGE. */
export function checkOutputFile(file: string): void {
  useFile(resolve(file), (target) => accessSync(dirname(target), constants.W_OK));
}

function useFile(target: string, use: (target: string) => void): void {
  const isFile = statSync(target, { throwIfNoEntry: false })?.isFile() ?? true;
  // Replacing a device by a file would remove it for every user.
  if (!isFile) throw new SheafError("USAGE", `${target} is not a file: name a file`);
  try {
    use(target);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    throw new SheafError("USAGE", `${target} cannot be written (${code}): name another file`, { cause: error });
  }
}
