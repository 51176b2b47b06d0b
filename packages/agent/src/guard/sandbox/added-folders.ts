/** Folders beside the workspace that the user adds with `--add-dir`: file tools and commands read and write in them. */
import { homedir } from "node:os";
import { realpathSync, statSync } from "node:fs";
import { sep } from "node:path";
import { hasForeignName } from "../../base/foreign-name.ts";
import { SheafError } from "../../base/errors.ts";
import { toProtectedName } from "../../workspace/protected-names.ts";
import type { Environment } from "./environment.ts";
import { toExistingPath } from "./mounts.ts";
import { listSecretPlaces } from "./secret-places.ts";

export interface AddedFoldersOrder {
  /** Absolute, as the user named them. */
  readonly folders: readonly string[];
  /** Absolute, links resolved. */
  readonly workspace: string;
  readonly environment: Environment;
}

/**
 * The folders without links, outer ones only; what lies in the workspace needs no flag.
 * @throws SheafError USAGE for a folder that is none, or that would open too much.
 */
export function toAddedFolders({ folders, workspace, environment }: AddedFoldersOrder): string[] {
  const real = [...new Set(folders.map(toRealFolder))].filter((folder) => !isBelow(folder, workspace));
  for (const folder of real) {
    const obstacle = findObstacle(folder, workspace, environment);
    if (obstacle !== "") throw createError(folder, obstacle);
  }
  return real.filter((folder) => !real.some((other) => other !== folder && isBelow(folder, other)));
}

function toRealFolder(folder: string): string {
  try {
    const real = realpathSync(folder);
    if (statSync(real).isDirectory()) return real;
  } catch {
    if (hasForeignName(folder)) {
      const message = `--add-dir ${JSON.stringify(folder)} cannot be opened, because its name is not UTF-8: rename the folder`;
      throw new SheafError("USAGE", message);
    }
    throw createError(folder, "is not there, or cannot be opened");
  }
  throw createError(folder, "is no folder");
}

/** What stands against a folder; "" if nothing does. */
function findObstacle(folder: string, workspace: string, environment: Environment): string {
  if (folder === sep) return "is the whole file system";
  const homes = [homedir(), environment.HOME ?? ""].map((home) => toExistingPath(home) ?? home);
  if (homes.some((home) => home !== "" && isBelow(home, folder))) return "is the home folder, or holds it";
  if (isBelow(workspace, folder)) return "holds the workspace: name it with --workspace";
  const secrets = listSecretPlaces(environment).map((place) => toExistingPath(place) ?? place);
  const secret = secrets.find((place) => isBelow(place, folder) || isBelow(folder, place));
  if (secret !== undefined) return `has to do with ${secret}, which is secret`;
  const name = toProtectedName(folder);
  return name === undefined ? "" : `lies in a protected place (${name})`;
}

function createError(folder: string, problem: string): SheafError {
  return new SheafError("USAGE", `--add-dir ${JSON.stringify(folder)} ${problem}: name another folder`);
}

/** Whether a path is a folder or lies in it. */
function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
