/**
 * Finds the folders that Sheaf hides, so that no command of a client sees a secret of the server (S-241). Sheaf hides
 * the folder of a file, not the file: the kernel drops a mount over a file when another file takes its name.
 */
import { lstatSync, readlinkSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { SheafError } from "@sheaf/base/errors";
import type { Environment } from "@sheaf/base/paths";
import { getFaultCode } from "@sheaf/base/files/file-error";
import { followLinks } from "@sheaf/base/files/follow-links";
import { toRealPlace } from "@sheaf/base/files/repository";
import { isBelow } from "@sheaf/base/files/workspace";
import { toFixedPath } from "../environment.ts";
import { listOtherPaths, type MountTable, readMountTable } from "./mount-table.ts";
import { listHomes } from "./secret-places.ts";

export interface ServerSecret {
  /** The way messages name it, such as `--token-file`. */
  readonly name: string;
  /** Absolute path, as the operator wrote it. */
  readonly path: string;
  /** `own` is a folder of Sheaf that may contain workspaces. */
  readonly kind: "file" | "folder" | "own";
}

export interface SecretSurroundings {
  /** Names for messages by folder. Commands write these folders; they are absolute and contain no links. */
  readonly writable: ReadonlyMap<string, string>;
  readonly environment: Environment;
  /** Mounts of the process. Default: this process's. */
  readonly table?: MountTable;
}

const advice: Readonly<Record<ServerSecret["kind"], string>> = {
  file: "move it to its own folder, outside of all workspaces",
  folder: "use a folder that is apart from all workspaces",
  own: "serve another folder, or set SHEAF_HOME to a folder outside of it",
};

/** Folders of the system without which commands fail. */
const systemPlaces = ["/etc", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/dev", "/proc", "/sys"] as const;

/** Folders that the sandbox replaces with private ones. */
const privatePlaces = ["/tmp", "/var/tmp", "/dev/shm"] as const;

/** Returns the folders to hide, absolute. @throws SheafError USAGE for a secret that Sheaf cannot hide (S-242). */
export function listSecretFolders(secrets: readonly ServerSecret[], surroundings: SecretSurroundings): string[] {
  const { writable, environment, table = readMountTable(process.pid) } = surroundings;
  const needed = [...systemPlaces, ...listHomes(environment), ...toFixedPath(environment.PATH).split(":")].map(
    toRealPlace,
  );
  const found = secrets.flatMap((secret) => {
    const { path, kind } = secret;
    const target = checkWay(secret, writable);
    const names = [...(kind === "file" ? listNames(path) : [target]), ...listOtherPaths(target, table)];
    return names.map((name) => {
      checkPlace(name, secret, writable);
      const folder = kind === "file" ? dirname(name) : name;
      const isUnseen = process.platform === "linux" && privatePlaces.some((place) => isBelow(folder, place));
      const need = isUnseen || kind === "own" ? undefined : needed.find((place) => isBelow(place, folder));
      if (need === undefined) return folder;
      const problem = need === folder ? `commands need ${folder}` : `commands need ${need}, which is in ${folder}`;
      throw createError(secret, problem);
    });
  });
  return [...new Set(found)];
}

/** The target of the path. If a command could write a link on the way, it could make the server read another file. */
function checkWay(secret: ServerSecret, writable: SecretSurroundings["writable"]): string {
  const links: string[] = [];
  const target = follow(secret, (link) => links.push(link));
  for (const link of links) checkPlace(link, { ...secret, kind: "file" }, writable);
  if (secret.kind !== "file") return target;
  const names = lstatSync(target, { throwIfNoEntry: false })?.nlink ?? 1;
  if (names <= 1) return target;
  const copy = `cp -p ${target} ${target}.new && mv ${target}.new ${target}`;
  throw createError(secret, `the file has ${names} names (hard links), and commands may read it by another one`, copy);
}

function follow(secret: ServerSecret, onLink: (path: string) => void): string {
  try {
    return followLinks(sep, secret.path.split(sep), onLink).target;
  } catch (error) {
    throw createError(secret, `its path cannot be followed (${getFaultCode(error)})`);
  }
}

function checkPlace(place: string, secret: ServerSecret, writable: SecretSurroundings["writable"]): void {
  for (const [folder, name] of writable) {
    if (isBelow(place, folder)) throw createError(secret, `${place} is in ${name}`);
    if (secret.kind === "folder" && isBelow(folder, place)) throw createError(secret, `${name} is in ${place}`);
  }
}

/** Lists the path of a file, and the target of each link at its end. Another file can replace any of them. */
function listNames(path: string): string[] {
  const place = join(toRealPlace(dirname(path)), basename(path));
  // `checkWay` has refused circles.
  const isLink = lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink();
  return isLink ? [place, ...listNames(resolve(dirname(place), readlinkSync(place)))] : [place];
}

function createError({ name, path, kind }: ServerSecret, problem: string, remedy = advice[kind]): SheafError {
  return new SheafError("USAGE", `${name} ${path} cannot be hidden from clients, because ${problem}: ${remedy}`);
}
