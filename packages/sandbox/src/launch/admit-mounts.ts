/**
 * Lets a sandbox run only with exactly the planned mounts (S-78). Sheaf plans by path, and bubblewrap mounts by path.
 * In between, a command in the background, or of another run, may swap a folder with a link to another place. The
 * kernel's table has the real place of each mount, and bubblewrap waits until Sheaf has read it.
 */
import { basename, dirname, join, relative } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { isBelow } from "@sheaf/base/files/workspace";
import type { ProcessEntry } from "../follow/processes.ts";
import { type MountEntry, type MountTable, readMountTable } from "../hold/mount-table.ts";
import type { Mount } from "../hold/mounts.ts";

export interface Admission {
  readonly mounts: readonly Mount[];
  /** The folders that commands write. Commands can move any place inside them, but not the folders themselves. */
  readonly tops: readonly string[];
  /** The sandbox's first process, once it exists. */
  readonly findFirst: () => ProcessEntry | undefined;
  readonly isRunning: () => boolean;
}

/** Milliseconds. A start with 300 mounts takes a quarter of a second. */
const startPeriod = 30_000;
const maxPollInterval = 2;

/**
 * Waits for the mounts. Resolves with them when the sandbox may run, or with undefined when it has failed by itself.
 * @throws Error with a sentence when a mount is not at its planned place, or when the sandbox takes too long.
 */
export async function admitMounts({ mounts, tops, findFirst, isRunning }: Admission): Promise<MountTable | undefined> {
  const deadline = performance.now() + startPeriod;
  const checked = mounts.filter(({ path }) => tops.some((top) => path !== top && isBelow(path, top)));
  for (let interval = 1; isRunning(); interval = Math.min(interval * 2, maxPollInterval)) {
    const table = readMountTable(findFirst()?.pid);
    const gone = mounts.find(({ path }) => table.get(path)?.some(isGone));
    if (gone || isComplete(table, mounts)) {
      const misplaced = gone ?? checked.find((mount) => !isPlaced(mount, table));
      if (!misplaced) return table;
      const place = JSON.stringify(misplaced.path);
      throw new Error(
        `the sandbox was not started, because ${place} was moved or replaced meanwhile: end the commands in the background and whatever else changes folders here, then try again`,
      );
    }
    if (performance.now() > deadline) throw new Error(`the sandbox did not start within ${startPeriod / 1000} s`);
    await wait(interval);
  }
  return undefined;
}

/** True if all mounts are in place. Bubblewrap builds them below another folder, and moves the private folder last. */
function isComplete(table: MountTable, mounts: readonly Mount[]): boolean {
  return mounts.every(({ path, source, access }) => {
    // Folders of a repository may have any path in their file system, but the run's private folders may not.
    if (source === undefined || access === "read-only") return true;
    return table.get(path)?.some((entry) => isFrom(entry, source)) ?? false;
  });
}

/** True for a mount whose folder was deleted, such as a copy of a git folder: the sandbox never gets another one. */
function isGone({ root }: MountEntry): boolean {
  return root.endsWith("//deleted");
}

function isFrom({ root }: MountEntry, source: string): boolean {
  return root.endsWith(join("/", basename(dirname(source)), basename(source)));
}

function isPlaced({ path, access, source }: Mount, table: MountTable): boolean {
  const found = table.get(path)?.at(-1);
  if (!found) return false;
  if (source !== undefined) return access === "read-only" || isFrom(found, source);
  if (access === "hidden-folder") return found.type === "tmpfs" && found.root === "/";
  const expected = access === "hidden-file" ? table.get("/dev/null")?.at(-1) : findOriginal(path, table);
  return found.device === expected?.device && found.root === expected.root;
}

/** Finds the place that the last mount covers. */
function findOriginal(path: string, table: MountTable): Pick<MountEntry, "device" | "root"> | undefined {
  const covered = table.get(path)?.at(-2);
  if (covered) return covered;
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const around = table.get(folder)?.at(-1);
    if (around) return { device: around.device, root: join(around.root, relative(folder, path)) };
    if (folder === dirname(folder)) return undefined;
  }
}
