/**
 * Where a server's secrets are, so that its clients' commands see none of them (S-241). A command may last for days, and
 * a mount over a file is gone when another file takes its name: so the folder of a file is hidden, not the file.
 */
import { lstatSync, readlinkSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { SheafError } from "../../../base/errors.ts";
import type { Environment } from "../../../base/paths.ts";
import { getFaultCode } from "../../../workspace/file-error.ts";
import { followLinks } from "../../../workspace/follow-links.ts";
import { toRealPlace } from "../../../workspace/repository.ts";
import { isBelow } from "../../../workspace/workspace.ts";
import { toFixedPath } from "../environment.ts";
import { type MountTable, readMountTable } from "./mount-table.ts";
import { listHomes } from "./secret-places.ts";

export interface ServerSecret {
  /** How messages name it, such as `--token-file`. */
  readonly name: string;
  /** Absolute, as the operator named it. */
  readonly path: string;
  /** `own`: a folder of Sheaf's, in which workspaces may be. */
  readonly kind: "file" | "folder" | "own";
}

export interface SecretSurroundings {
  /** Folders that commands write, with their names for messages. Absolute, links resolved. */
  readonly writable: ReadonlyMap<string, string>;
  readonly environment: Environment;
  /** Default: that of this process. */
  readonly table?: MountTable;
}

const advice: Readonly<Record<ServerSecret["kind"], string>> = {
  file: "move it to a folder of its own, outside of all workspaces",
  folder: "use a folder that is apart from all workspaces",
  own: "serve another folder, or set SHEAF_HOME to a folder outside of it",
};

/** What commands find in these places, they need. */
const systemPlaces = ["/etc", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/dev", "/proc", "/sys"] as const;

/** Commands have others in their place. */
const privatePlaces = ["/tmp", "/var/tmp", "/dev/shm"] as const;

/** The folders to hide, absolute. @throws SheafError USAGE for a secret that cannot be hidden, and says why. */
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

/** Where its path leads. A command must not write a link on the way: the server would read what it likes. */
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

/** The path of a file, and what the links at its end name: any of them may become another file. Their folders have no links. */
function listNames(path: string): string[] {
  const place = join(toRealPlace(dirname(path)), basename(path));
  // No circle: the way was followed before.
  const isLink = lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink();
  return isLink ? [place, ...listNames(resolve(dirname(place), readlinkSync(place)))] : [place];
}

/** Where else a place, or a part of it, is mounted. `path` has no links. */
function listOtherPaths(path: string, table: MountTable): string[] {
  let own = path;
  while (!table.has(own) && own !== dirname(own)) own = dirname(own);
  const mount = table.get(own)?.at(-1);
  if (!mount) return [];
  const inner = join(mount.root, relative(own, path));
  return [...table].flatMap(([place, entries]) => {
    const { device, root } = entries.at(-1)!;
    if (place === own || device !== mount.device) return [];
    const other = join(place, relative(root, inner));
    if (isBelow(inner, root)) return isSame(path, other) ? [other] : [];
    return isBelow(root, inner) && !isBelow(place, path) ? [place] : [];
  });
}

/** Something else may be mounted over it. */
function isSame(one: string, other: string): boolean {
  const [first, second] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }));
  return first !== undefined && first.ino === second?.ino && first.dev === second.dev;
}

function createError({ name, path, kind }: ServerSecret, problem: string, remedy = advice[kind]): SheafError {
  return new SheafError("USAGE", `${name} ${path} cannot be hidden from clients, because ${problem}: ${remedy}`);
}
