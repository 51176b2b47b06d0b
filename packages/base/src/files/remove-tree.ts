import { constants, rmSync } from "node:fs";
import { open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/**
 * Removes a folder that commands have filled, without following links. Commands may have made folders that their owner
 * cannot empty, as Go does with its cache, and paths that are too long, which only `rmSync` can follow.
 */
export async function removeTree(folder: string): Promise<void> {
  const options = { recursive: true, force: true } as const;
  try {
    await rm(folder, options);
  } catch {
    await openFolders(folder).catch(() => undefined);
    await rm(folder, options).catch(() => rmSync(folder, options));
  }
}

async function openFolders(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    await folder.chmod(0o700);
  } finally {
    await folder.close();
  }
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await openFolders(join(path, entry.name));
  }
}
