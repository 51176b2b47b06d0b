/** Detects folders whose names are not UTF-8: they exist, but Sheaf cannot address them. */
import { existsSync, realpathSync } from "node:fs";

/** True if a missing folder has such a name or is inside one. Node shows the name with U+FFFD and cannot find it. */
export function hasForeignName(folder: string): boolean {
  if (folder.includes("\uFFFD")) return !existsSync(folder);
  try {
    const bytes = realpathSync.native(folder, "buffer");
    return !bytes.equals(Buffer.from(bytes.toString()));
  } catch {
    return false;
  }
}
