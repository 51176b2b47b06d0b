/** Finds the places to which git's configuration points in the folders that commands write (S-80). */
import { basename, dirname } from "node:path";
import type { Environment } from "@sheaf/base/paths";
import { listGitPlaces } from "@sheaf/base/git/git-places";
import { type HeldPlace, toHeldPlace, toShownPath } from "./held-place.ts";
import { toExistingPath } from "./mounts.ts";

export interface ConfiguredScope {
  /** The folders that commands write, the workspace first; absolute, links resolved. */
  readonly tops: readonly string[];
  readonly environment: Environment;
  /** Known places. Sheaf reads the configuration of the user's repositories among them, and of no others. */
  readonly places: readonly HeldPlace[];
}

/** Lists the configured places that exist, and links on the way to a place. Other places are behind no link. */
export function listConfiguredPlaces({ tops, environment, places }: ConfiguredScope): HeldPlace[] {
  const [workspace = ""] = tops;
  const repositories = places.filter(({ path }) => basename(path) === ".git").map(({ path }) => dirname(path));
  const named = listGitPlaces({ folders: [...tops, ...repositories], inside: tops, environment });
  return named.flatMap(({ path, reason }) => {
    if (toExistingPath(dirname(path)) !== dirname(path)) return [];
    const refusal = `${toShownPath(path, workspace)} is protected (${reason}), and commands may not create it`;
    return toHeldPlace(path, { access: "read-only", refusal });
  });
}
