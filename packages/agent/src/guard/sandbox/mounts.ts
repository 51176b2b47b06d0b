/** What a command in the sandbox sees of the file system: the plan that bubblewrap carries out (S-30, S-34). */
import { lstatSync, realpathSync } from "node:fs";

/** One place of the plan, absolute and without links. */
export interface Mount {
  readonly path: string;
  /** `hidden-folder` is empty but for the mounts in it; `hidden-file` cannot be read. */
  readonly access: "writable" | "read-only" | "hidden-folder" | "hidden-file";
  /** What is seen there, if not the place itself. */
  readonly source?: string;
}

/** Outer places first, so that an inner one holds within an outer one; in the same place the later one holds. */
export function sortMounts(mounts: readonly Mount[]): Mount[] {
  const byPath = new Map(mounts.map((mount) => [mount.path, mount]));
  return [...byPath.values()].toSorted((a, b) => countParts(a.path) - countParts(b.path));
}

function countParts(path: string): number {
  return path.split("/").filter((part) => part !== "").length;
}

/** Hides what is there of these places; `except` stays visible. */
export function toHiddenMounts(places: readonly string[], except: string): Mount[] {
  return places.flatMap((place) => {
    const path = toExistingPath(place);
    if (path === undefined || path === except) return [];
    const isFolder = lstatSync(path, { throwIfNoEntry: false })?.isDirectory();
    return [{ path, access: isFolder ? ("hidden-folder" as const) : ("hidden-file" as const) }];
  });
}

/** The place without links; undefined if nothing is there. A mount on a link would be one on its target. */
export function toExistingPath(path: string): string | undefined {
  try {
    // The cheap question first: most places are not there.
    if (!lstatSync(path, { throwIfNoEntry: false })) return undefined;
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}
