/** Folders whose names are not UTF-8: the system has them, and Sheaf cannot name them. */
import { existsSync, realpathSync } from "node:fs";

/** True if a folder that cannot be opened has such a name, or lies below one. Node shows one with U+FFFD, and finds nothing there. */
export function hasForeignName(folder: string): boolean {
  if (folder.includes("\uFFFD")) return !existsSync(folder);
  try {
    const bytes = realpathSync.native(folder, "buffer");
    return !bytes.equals(Buffer.from(bytes.toString()));
  } catch {
    return false;
  }
}
