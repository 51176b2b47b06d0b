import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";

/** Lists the names in a folder; none if it does not exist, or cannot be read. */
export function listEntryNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Lists the files in a folder, at any depth. Skips folders that this user cannot read, since commands cannot read them either. */
export function listFiles(folder: string, without: readonly string[] = []): string[] {
  if (without.includes(folder)) return [];
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return listFiles(path, without);
    return entry.isFile() ? [path] : [];
  });
}
