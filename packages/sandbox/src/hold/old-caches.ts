/** Removes the caches of workspaces that have been unused for long (S-105). */
import { readdirSync, renameSync, statfsSync, statSync, utimesSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { removeTree } from "@sheaf/base/files/remove-tree";

const day = 24 * 60 * 60 * 1000;
const maxAge = 30 * day;
const maxCount = 20;
/** Share of the disk below which Sheaf removes more caches. */
const minFree = 0.1;
const removedPrefix = ".removed-";

/**
 * Marks the caches of a workspace as used now, and removes old caches of other workspaces, which are next to them.
 * `now` is in milliseconds since 1970. Resolves after the last removal. The next call removes any rest.
 */
export async function removeOldCaches(cacheFolder: string, now: number, isFull = isDiskFull): Promise<void> {
  const top = dirname(cacheFolder);
  try {
    const names = readdirSync(top);
    if (names.includes(basename(cacheFolder))) utimesSync(cacheFolder, now / 1000, now / 1000);
    const known = names.filter((name) => !name.startsWith(removedPrefix));
    for (const name of listOld(top, known, now, isFull)) renameSync(join(top, name), join(top, removedPrefix + name));
    for (const name of readdirSync(top)) {
      // A cache that cannot be removed must not block the others.
      if (name.startsWith(removedPrefix)) await removeTree(join(top, name)).catch(() => undefined);
    }
  } catch {
    // The folder does not exist yet, or another run is removing it.
  }
}

function listOld(top: string, names: readonly string[], now: number, isFull: typeof isDiskFull): string[] {
  const ages = names.map((name) => ({ name, age: now - statSync(join(top, name)).mtimeMs }));
  const latest = ages.toSorted((a, b) => a.age - b.age);
  const mustFree = isFull(top);
  return latest
    .filter(({ age }, index) => age > day && (mustFree || age > maxAge || index >= maxCount))
    .map(({ name }) => name);
}

function isDiskFull(folder: string): boolean {
  const { bavail, blocks } = statfsSync(folder);
  return bavail < blocks * minFree;
}
