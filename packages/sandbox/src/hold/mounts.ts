/**
 * Plans the mounts of a command: the part of the file system that it sees (S-30, S-34). Bubblewrap carries them out.
 */
import { lstatSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { isBelow } from "@sheaf/base/files/workspace";
import { listOtherPaths, listProcessPlaces, type MountTable, readMountTable } from "./mount-table.ts";

/** A planned mount of one place. All paths are absolute and without links. */
export interface Mount {
  readonly path: string;
  /** A `hidden-folder` contains only the mounts in it; a `hidden-file` cannot be read. */
  readonly access: "writable" | "read-only" | "hidden-folder" | "hidden-file";
  /** The file or folder that appears at `path`. Default: the place itself. */
  readonly source?: string;
}

/** Sorts outer places first: an inner mount overrides an outer one, and the last of several in one place wins. */
function sortMounts(mounts: readonly Mount[]): Mount[] {
  const byPath = new Map(mounts.map((mount) => [mount.path, mount]));
  return [...byPath.values()].toSorted((a, b) => countParts(a.path) - countParts(b.path));
}

function countParts(path: string): number {
  return path.split("/").filter((part) => part !== "").length;
}

/** Returns mounts that hide the existing places among these; `except` stays visible. */
function toHiddenMounts(places: readonly string[], except: string): Mount[] {
  return places.flatMap((place) => {
    const path = toExistingPath(place);
    if (path === undefined || path === except) return [];
    const isFolder = lstatSync(path, { throwIfNoEntry: false })?.isDirectory();
    return [{ path, access: isFolder ? ("hidden-folder" as const) : ("hidden-file" as const) }];
  });
}

/**
 * Returns the place without links, because a mount on a link would cover its target; undefined if it does not exist.
 */
export function toExistingPath(path: string): string | undefined {
  try {
    // The cheap call runs first, since most places do not exist.
    if (!lstatSync(path, { throwIfNoEntry: false })) return undefined;
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

/** Mounts that keep places as they are. */
export interface HeldMounts {
  /** Writable folders that must keep their names. */
  readonly kept: readonly string[];
  readonly mounts: readonly Mount[];
  /** Folders in read-only places that commands may still write. */
  readonly open?: readonly string[] | undefined;
}

/** The folders between these paths and the folders `tops`, which contain them. */
export function listAncestors(paths: readonly string[], tops: readonly string[]): string[] {
  const found = new Set<string>();
  for (const path of paths) {
    const top = tops.find((folder) => isBelow(path, folder));
    if (top === undefined) continue;
    for (let folder = dirname(path); folder.length > top.length; folder = dirname(folder)) found.add(folder);
  }
  return [...found];
}

/** The facts for the mounts of one command, found for each one: a file may have become protected or secret. */
export interface MountFacts {
  /** Absolute path, links resolved. */
  readonly workspace: string;
  /** Absolute paths; most of them do not exist. */
  readonly secretPlaces: readonly string[];
  /** Files that commands see instead of secret files outside of the workspace, by the secret file's path. */
  readonly copies: ReadonlyMap<string, string>;
  /** Mounts of the run's private folder. */
  readonly privateMounts: readonly Mount[];
  /** Writable folders, without the workspace. */
  readonly writableMounts: readonly Mount[];
  /** Mounts of the tools' caches. */
  readonly cacheMounts: readonly Mount[];
  /** Private git folders, which cover the user's, and the mounts in them (S-77). Default: empty. */
  readonly gitMounts?: readonly Mount[] | undefined;
  /** Mounts of protected places, and of places that the user's rules deny. */
  readonly held: HeldMounts;
  /** Folders of skills, which commands see even inside hidden folders (S-147). */
  readonly readOnly?: readonly string[] | undefined;
  /** Mounts of the machine. Default: this process's. */
  readonly table?: MountTable;
}

/** Returns the mounts in mount order. A hidden place stays hidden, whatever else is mounted around it. */
export function planMounts(facts: MountFacts): Mount[] {
  const { workspace, secretPlaces, copies, privateMounts, writableMounts, cacheMounts, gitMounts = [], held } = facts;
  const { table = readMountTable(process.pid) } = facts;
  const isHidden = ({ access }: Mount): boolean => access.startsWith("hidden");
  // The private folder and the caches cover the others already.
  const isUncovered = ({ path }: Mount): boolean =>
    isBelow(path, workspace) || ![...privateMounts, ...cacheMounts].some((mount) => isBelow(path, mount.path));
  const secret = toHiddenMounts([...secretPlaces, ...listProcessPlaces(table)], workspace).filter(isUncovered);
  /** The same place where the machine mounts it again, as WSL does with the whole disk. */
  const toOthers = (mount: Mount): Mount[] =>
    listOtherPaths(mount.path, table)
      .map((path) => ({ ...mount, path }))
      .filter((other) => other.path !== workspace && isUncovered(other));
  const writable = [{ path: workspace, access: "writable" as const }, ...writableMounts];
  const tops = writable.map(({ path }) => path);
  const revealed = listRevealed(facts, tops).map((path): Mount => ({ path, access: "read-only" }));
  const hidden = removeInner(
    [...secret, ...held.mounts.filter(isHidden)].flatMap((mount) => [mount, ...toOthers(mount)]),
    [workspace, ...revealed.map(({ path }) => path)],
  );
  const covering = hidden.filter(({ path }) => !isBelow(workspace, path));
  const readOnly = held.mounts.filter(({ access }) => access === "read-only");
  // Commands cannot rename these folders: otherwise they would find a secret place of the workspace under another path.
  const around = listAncestors(
    secret.map(({ path }) => path),
    [workspace],
  );
  const kept = [...around, ...held.kept].map((path): Mount => ({ path, access: "writable" }));
  const keeping = [...kept, ...held.mounts.filter((mount) => !isHidden(mount))].filter(
    // A link with a protected name must not reveal a hidden place or a place outside the writable folders. A read-only
    // place must not become writable again.
    ({ path, access }) =>
      writable.some((mount) => isBelow(path, mount.path)) &&
      !covering.some((place) => isBelow(path, place.path)) &&
      // Commands see the private git folder there.
      !gitMounts.some((mount) => mount.path !== path && isBelow(path, mount.path)) &&
      (access === "read-only" || !readOnly.some((mount) => isBelow(path, mount.path))),
  );
  const open = (held.open ?? []).map((path): Mount => ({ path, access: "writable" }));
  const shown = hidden.map((mount): Mount => {
    const source = copies.get(mount.path);
    const isCopied = source !== undefined && !isBelow(mount.path, workspace);
    return isCopied ? { path: mount.path, access: "read-only", source } : mount;
  });
  return sortMounts([
    ...privateMounts,
    ...cacheMounts,
    ...revealed,
    ...writable,
    ...keeping,
    ...gitMounts,
    ...open,
    ...shown,
  ]);
}

/** Lists folders to read outside of the writable ones. A folder that is or contains a secret place stays hidden. */
export function listRevealed(
  { readOnly = [], secretPlaces }: Pick<MountFacts, "readOnly" | "secretPlaces">,
  tops: readonly string[],
): string[] {
  if (readOnly.length === 0) return [];
  const secrets = secretPlaces.flatMap((place) => toExistingPath(place) ?? []);
  return readOnly.filter(
    (folder) =>
      ![...secrets, ...tops].some((place) => isBelow(place, folder)) && !tops.some((top) => isBelow(folder, top)),
  );
}

/** Drops places inside a hidden folder, where they cannot be mounted, except in a folder that stays visible. */
function removeInner(hidden: readonly Mount[], visible: readonly string[]): Mount[] {
  const isSeen = ({ path }: Mount, { path: folder }: Mount): boolean =>
    visible.some((other) => isBelow(other, folder) && isBelow(path, other));
  const folders = hidden.filter(({ access }) => access === "hidden-folder");
  return hidden.filter(
    (place) =>
      !folders.some(
        (folder) => folder.path !== place.path && isBelow(place.path, folder.path) && !isSeen(place, folder),
      ),
  );
}
