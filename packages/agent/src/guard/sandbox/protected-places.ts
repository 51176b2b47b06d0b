/** Keeps commands from changing what decides later what runs: existing places by mounts, new ones behind the command. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { type Mount, toExistingPath } from "./mounts.ts";
import { moveAway } from "./move-away.ts";
import { createProtectedIndex, type ProtectedPlace } from "./protected-index.ts";

/** The protected places of one workspace, over all commands of a run. */
export interface ProtectedPlaces {
  /** For a command that starts now: mounts that keep every place as it is. */
  begin(): Mount[];
  /**
   * For a command that has ended: takes away what is protected by its name and was not there before, for no mount can
   * be put where nothing is. A sentence for each, for the model and the user.
   */
  end(): string[];
}

/** Places that get a mount of their own, outer ones first; behind more of them a command would start slowly. */
const maxMounts = 300;

/** What commands write beside the workspace: the folder of a linked worktree, and folders that the user added. */
export interface WritableFolders {
  readonly worktree?: string | undefined;
  readonly added?: readonly string[];
}

/** `workspace`: absolute, links resolved. */
export function createProtectedPlaces(
  workspace: string,
  { worktree, added = [] }: WritableFolders = {},
): ProtectedPlaces {
  const index = createProtectedIndex(workspace, [
    ...(worktree === undefined ? [] : [{ path: worktree, kind: "worktree" as const }]),
    ...added.map((path) => ({ path, kind: "plain" as const })),
  ]);
  let running = 0;
  let known = new Set<string>();
  return {
    begin() {
      // What appears while no command runs is the user's own.
      const places = running === 0 ? index.refresh() : undefined;
      if (places) known = new Set(places.map(({ identity }) => identity));
      running += 1;
      return (places ?? index.refresh())
        .filter(({ identity }) => known.has(identity))
        .flatMap(toMount)
        .slice(0, maxMounts);
    },
    end() {
      running -= 1;
      const places = index.refresh().filter(({ identity }) => !known.has(identity));
      return takeAway(places, workspace);
    },
  };
}

/** A mount on a link would be one on its target; a new link in its place is seen behind the command. */
function toMount({ path, kind }: ProtectedPlace): Mount[] {
  if (kind === "repository") {
    // Commits write in it. A mount of its own cannot be renamed, so no other folder can take its place.
    return [{ path, access: "writable" }];
  }
  const target = kind === "link" ? toExistingPath(path) : path;
  return target === undefined ? [] : [{ path: target, access: "read-only" }];
}

function takeAway(places: readonly ProtectedPlace[], workspace: string): string[] {
  if (places.length === 0) return [];
  const folder = mkdtempSync(join(tmpdir(), "sheaf-refused-"));
  // What lies in another one goes with it.
  const outer = places.filter(({ path }) => !places.some((other) => path.startsWith(`${other.path}/`)));
  return outer.map(({ path }, position) => {
    const name = relative(workspace, path);
    const target = join(folder, `${position}-${basename(path)}`);
    const reason = `"${name}" is protected, and commands never make it`;
    return moveAway(path, target)
      ? `${reason}: it was taken away and lies in ${target}; tell the user if it is needed.`
      : `${reason}, but it could not be taken away: tell the user to look at it.`;
  });
}
