import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";

/** Lists the names in a folder; empty if it is missing or cannot be read. */
export function listEntryNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Lists the entries of a folder; empty if it is missing or cannot be read. */
export function listEntries(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Lists the files in a folder, at any depth, except in folders that this user, and so a command, cannot read. */
export function listFiles(folder: string, without: readonly string[] = []): string[] {
  if (without.includes(folder)) return [];
  return listEntries(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return listFiles(path, without);
    return entry.isFile() ? [path] : [];
  });
}
