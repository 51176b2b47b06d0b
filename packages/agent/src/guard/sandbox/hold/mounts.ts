/** What a command in the sandbox sees of the file system: the plan that bubblewrap carries out (S-30, S-34). */
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import type { DeniedMounts } from "./denied-places.ts";

/** One place of the plan, absolute and without links. */
export interface Mount {
  readonly path: string;
  /** `hidden-folder` is empty but for the mounts in it; `hidden-file` cannot be read. */
  readonly access: "writable" | "read-only" | "hidden-folder" | "hidden-file";
  /** What is seen there, if not the place itself. */
  readonly source?: string;
}

/** Outer places first, so that an inner one holds within an outer one; in the same place the later one holds. */
function sortMounts(mounts: readonly Mount[]): Mount[] {
  const byPath = new Map(mounts.map((mount) => [mount.path, mount]));
  return [...byPath.values()].toSorted((a, b) => countParts(a.path) - countParts(b.path));
}

function countParts(path: string): number {
  return path.split("/").filter((part) => part !== "").length;
}

/** Hides what is there of these places; `except` stays visible. */
function toHiddenMounts(places: readonly string[], except: string): Mount[] {
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

/** What the mounts depend on. */
export interface MountFacts {
  /** Absolute, links resolved. */
  readonly workspace: string;
  /** Absolute; most of them are not there. */
  readonly secretPlaces: readonly string[];
  /** Of the run's own folder. */
  readonly privateMounts: readonly Mount[];
  /** Beside the workspace. */
  readonly writableMounts: readonly Mount[];
  /** That keep the protected places of the workspace. */
  readonly protectedMounts: readonly Mount[];
  /** That hold commands to the user's rules. */
  readonly deniedMounts: DeniedMounts;
}

/** In the order in which they are made: what is hidden stays hidden, whatever else is mounted around it. */
export function planMounts(facts: MountFacts): Mount[] {
  const { workspace, secretPlaces, privateMounts, writableMounts, protectedMounts, deniedMounts } = facts;
  const secret = toHiddenMounts(secretPlaces, workspace).filter(
    // What the private folder covers is gone already.
    ({ path }) => isBelow(path, workspace) || !privateMounts.some((mount) => isBelow(path, mount.path)),
  );
  const hidden = removeInner([...secret, ...deniedMounts.hidden], workspace);
  const writable = [{ path: workspace, access: "writable" as const }, ...writableMounts];
  const covering = hidden.filter(({ path }) => !isBelow(workspace, path));
  const readOnly = [...protectedMounts, ...deniedMounts.readOnly];
  const kept = deniedMounts.kept.filter(
    // What is read-only must not be opened again.
    ({ path }) => !readOnly.some((mount) => mount.access === "read-only" && isBelow(path, mount.path)),
  );
  const keeping = [...kept, ...readOnly].filter(
    // A link with a protected name must not open what is hidden or lies elsewhere.
    ({ path }) =>
      writable.some((mount) => isBelow(path, mount.path)) && !covering.some((place) => isBelow(path, place.path)),
  );
  return sortMounts([...privateMounts, ...writable, ...keeping, ...hidden]);
}

/** In a hidden folder nothing can be hidden once more. */
function removeInner(hidden: readonly Mount[], workspace: string): Mount[] {
  const folders = hidden.filter(({ path, access }) => access === "hidden-folder" && !isBelow(workspace, path));
  return hidden.filter(({ path }) => !folders.some((folder) => folder.path !== path && isBelow(path, folder.path)));
}

/** Whether a path is a folder or lies in it. */
export function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

export interface PrivateFolder {
  /** For the places that a command writes beside the workspace. */
  readonly mounts: readonly Mount[];
  remove(): void;
}

/** Makes it, for this user only (0700, a random name), and removes those of processes that were killed. */
export function createPrivateFolder(): PrivateFolder {
  removeOrphans();
  const path = mkdtempSync(join(tmpdir(), toRunPrefix()));
  const toMount = (name: string, place: string): Mount => {
    mkdirSync(join(path, name));
    return { path: place, access: "writable", source: join(path, name) };
  };
  return {
    mounts: [toMount("tmp", "/tmp"), toMount("var-tmp", "/var/tmp"), toMount("shm", "/dev/shm")],
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** How the name of every folder begins that this process makes for itself: a later one removes it if this one cannot. */
export function toRunPrefix(): string {
  return `${toNamespacePrefix()}${process.pid}-`;
}

function removeOrphans(): void {
  const prefix = toNamespacePrefix();
  for (const name of readdirSync(tmpdir())) {
    if (!name.startsWith(prefix) || isAlive(Number.parseInt(name.slice(prefix.length), 10))) continue;
    try {
      rmSync(join(tmpdir(), name), { recursive: true, force: true });
    } catch {
      // Of another user.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Containers may share `/tmp` and count their processes apart. */
function toNamespacePrefix(): string {
  try {
    return `sheaf-run-${/\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0"}-`;
  } catch {
    return "sheaf-run-0-";
  }
}
