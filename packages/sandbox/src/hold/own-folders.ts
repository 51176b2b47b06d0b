/**
 * Folders that commands never see, whatever `TMPDIR` is: for the files of a run, and for places that Sheaf took away.
 * They are in the caller's folder, which every sandbox hides, or else in `/tmp` or `/var/tmp`, which each sandbox
 * replaces by a private folder.
 */
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import { basename, dirname, join } from "node:path";
import { tryFinding } from "@sheaf/base/paths";
import { isFolder, makeFolder } from "@sheaf/base/make-folder";
import { isAlive, readProcessNamespace } from "@sheaf/base/process-numbers";
import { readStats } from "@sheaf/base/files/repository";
import { isBelow } from "@sheaf/base/files/workspace";
import type { Mount } from "./mounts.ts";

export interface OwnFolders {
  /** The caller's folder, absolute. If it is undefined or cannot be written, Sheaf uses a temporary folder. */
  readonly stateFolder?: string | undefined;
  /** Folders that commands write; absolute, links resolved. */
  readonly writable: readonly string[];
}

/** Folders that each sandbox replaces for its commands. */
const temporaryTops = ["/tmp", "/var/tmp"] as const;

/** Creates temporary folders early: running commands would see folders that a later run creates. */
export function listOwnFolders({ stateFolder, writable }: OwnFolders): string[] {
  const temporary = temporaryTops.map(toTemporaryFolder);
  for (const folder of temporary)
    if (writable.some((top) => isBelow(folder, top))) tryFinding(() => (openTemporary(folder), ""));
  return [...(stateFolder === undefined ? [] : [stateFolder]), ...temporary];
}

function toTemporaryFolder(top: string): string {
  return join(top, `sheaf-${process.getuid?.() ?? userInfo().username}`);
}

/** Creates the folder. @throws Error if another user made it. */
function openTemporary(folder: string): void {
  makeFolder(folder);
  const { uid, mode } = lstatSync(folder);
  if (uid !== process.getuid?.() || (mode & 0o077) !== 0) throw new Error(`${folder} belongs to others: remove it`);
}

/** Creates a folder (0700) whose name starts with `prefix`. @throws Error with a sentence if it cannot create one. */
function makeOwnFolder(kind: "runs" | "refused", prefix: string, { stateFolder, writable }: OwnFolders): string {
  const faults: string[] = [];
  for (const top of [stateFolder, ...temporaryTops.map(toTemporaryFolder)]) {
    // Commands could replace the folder by a link.
    if (top === undefined || writable.some((folder) => isBelow(folder, top) && isBelow(join(top, kind), folder)))
      continue;
    try {
      if (top !== stateFolder) openTemporary(top);
      makeFolder(join(top, kind));
      return mkdtempSync(join(top, kind, prefix));
    } catch (error) {
      faults.push((error as Error).message);
    }
  }
  const reason = faults.length === 0 ? "commands can write every place for it" : faults.join("; ");
  throw new Error(
    `no folder can be made for the files of this run (${reason}): start in another folder, or free space`,
  );
}

/** The place where commands find their caches, if it is not `~/.cache`. */
export const substituteCache = "/tmp/.cache";

export interface PrivateFolder {
  /** Absolute path. */
  readonly path: string;
  /** Mounts of the folder's parts as `/tmp`, `/var/tmp` and shared memory. */
  readonly mounts: readonly Mount[];
  remove(): void;
}

/** Creates the folder of a run, whose parts commands see as `/tmp` and shared memory. @throws Error with a sentence. */
export function createPrivateFolder(place: OwnFolders): PrivateFolder {
  const path = makeRunFolder(place);
  const toMount = (name: string, target: string): Mount => {
    mkdirSync(join(path, name));
    return { path: target, access: "writable", source: join(path, name) };
  };
  const mounts = [toMount("tmp", "/tmp"), toMount("var-tmp", "/var/tmp"), toMount("shm", "/dev/shm")];
  // The folder must exist before a command could put a link there.
  mkdirSync(join(path, "tmp", basename(substituteCache)));
  return {
    path,
    mounts,
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

/**
 * Creates a folder for this process. If this process cannot remove it, a later one does. @throws Error with a sentence.
 */
export function makeRunFolder(place: OwnFolders): string {
  return makeOwnFolder("runs", toRunName(""), place);
}

const day = 24 * 60 * 60 * 1000;
const maxRefuges = 100;

/** Creates a folder for places taken away. Older ones expire after 30 days, or if there are many. @throws Error */
export function makeRefuge(place: OwnFolders): string {
  const folder = makeOwnFolder("refused", `${new Date().toISOString().slice(0, 10)}-`, place);
  const others = listRefuges(dirname(folder)).filter((other) => other !== folder);
  const isOld = (path: string): boolean => Date.now() - (readStats(path)?.mtimeMs ?? 0) > 30 * day;
  for (const [index, path] of others.entries())
    if (index >= maxRefuges || isOld(path)) rmSync(path, { recursive: true, force: true });
  return folder;
}

/** Lists the folders, newest first. */
function listRefuges(folder: string): string[] {
  const paths = readdirSync(folder).map((name) => join(folder, name));
  const toTime = (path: string): number => readStats(path)?.mtimeMs ?? 0;
  return paths.toSorted((one, other) => toTime(other) - toTime(one));
}

/** Lists the folders with the places that Sheaf took away, newest first. */
export function findRefuges(stateFolder: string): string[] {
  return listOwnFolders({ stateFolder, writable: [] }).flatMap((top) => {
    const folder = join(top, "refused");
    return isFolder(folder) ? listRefuges(folder) : [];
  });
}

/**
 * Age at which a run of another machine is an orphan: this machine cannot see if its process is alive. Milliseconds.
 */
const maxForeignAge = 7 * day;

/** True if the process of a run was killed. */
export function isOrphan(folder: string, name: string): boolean {
  const prefix = toProcessPrefix();
  if (name.startsWith(prefix)) return !isAlive(Number.parseInt(name.slice(prefix.length), 10));
  return Date.now() - (readStats(join(folder, name))?.mtimeMs ?? Infinity) > maxForeignAge;
}

/** Returns a name for a folder of this process. `end` makes it unique. */
export function toRunName(end: string): string {
  return `${toProcessPrefix()}${process.pid}-${end}`;
}

/** Machines may share a home folder, and containers a folder: each numbers its processes separately. */
function toProcessPrefix(): string {
  const machine = hostname().replaceAll(/[^\w.]/g, "_");
  return `${machine}-${/\d+/.exec(readProcessNamespace())?.[0] ?? "0"}-`;
}
