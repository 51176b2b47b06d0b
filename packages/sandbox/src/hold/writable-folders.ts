/** The folders of `--add-dir`, which commands may write. */
import { realpathSync, statSync } from "node:fs";
import { sep } from "node:path";
import type { Environment } from "@sheaf/base/paths";
import { SheafError } from "@sheaf/base/errors";
import { hasForeignName } from "@sheaf/base/foreign-name";
import { toProtectedName } from "@sheaf/base/files/protected-names";
import { isBelow } from "@sheaf/base/files/workspace";
import { toExistingPath } from "./mounts.ts";
import { listHomes, listSecretPlaces } from "./secret-places.ts";

export interface AddedFolders {
  /** Absolute paths, as the user wrote them. */
  readonly folders: readonly string[];
  /** Absolute path, links resolved. */
  readonly workspace: string;
  readonly environment: Environment;
}

/**
 * The folders without links, outer ones only. Folders in the workspace need no flag.
 * @throws SheafError USAGE for a folder that does not exist, or that would expose too much.
 */
export function toAddedFolders({ folders, workspace, environment }: AddedFolders): string[] {
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
    throw createError(folder, "does not exist or cannot be opened");
  }
  throw createError(folder, "is not a folder");
}

/** The reason why a folder must not be added; "" if it may be. */
function findObstacle(folder: string, workspace: string, environment: Environment): string {
  if (folder === sep) return "is the whole file system";
  const homes = listHomes(environment).map((home) => toExistingPath(home) ?? home);
  if (homes.some((home) => isBelow(home, folder))) return "is the home folder or contains it";
  if (isBelow(workspace, folder)) return "contains the workspace: name it with --workspace";
  const secrets = listSecretPlaces(environment).map((place) => toExistingPath(place) ?? place);
  const secret = secrets.find((place) => isBelow(place, folder) || isBelow(folder, place));
  if (secret !== undefined) return `overlaps ${secret}, which is secret`;
  const name = toProtectedName(folder, "folder");
  return name === undefined ? "" : `is in a protected place (${name})`;
}

function createError(folder: string, problem: string): SheafError {
  return new SheafError("USAGE", `--add-dir ${JSON.stringify(folder)} ${problem}: name another folder`);
}
