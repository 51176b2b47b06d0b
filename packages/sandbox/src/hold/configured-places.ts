/** Finds the places in folders that commands write which git's configuration names (S-80). */
import { basename, dirname } from "node:path";
import type { Environment } from "@sheaf/base/paths";
import { listGitPlaces } from "@sheaf/base/git/git-places";
import { type HeldPlace, toHeldPlace, toShownPath } from "./held-place.ts";
import { toExistingPath } from "./mounts.ts";

export interface ConfiguredScope {
  /** The folders that commands write, the workspace first; absolute, links resolved. */
  readonly tops: readonly string[];
  readonly environment: Environment;
  /** Among them the repositories whose configuration counts: none that a command made, since it names what it likes. */
  readonly places: readonly HeldPlace[];
}

/** Those that exist. A link on the way to one is a place too, so the others are reached through no link. */
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
