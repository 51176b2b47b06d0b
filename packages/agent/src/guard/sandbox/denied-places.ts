/** Holds commands to the user's rules `Read(…)` and `Write(…)`: what they deny is hidden, or stays as it is. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import type { FileRule } from "../permissions/rule.ts";
import { createDeniedIndex, type DeniedPlace, type DeniedState } from "./denied-index.ts";
import type { Mount } from "./mounts.ts";
import { moveAway } from "./move-away.ts";

/** The denied places of one workspace, over all commands of a run. */
export interface DeniedPlaces {
  /**
   * For a command that starts now.
   * @throws Error with a sentence when the rules cannot be held: then no command runs.
   */
  begin(): DeniedMounts;
  /**
   * For a command that has ended: takes away what it made where nothing may be written, for no mount can be put where
   * nothing is. A sentence for each, for the model and the user.
   */
  end(): string[];
}

export interface DeniedMounts {
  /** Folders that must keep their names; writable as before. */
  readonly kept: readonly Mount[];
  readonly readOnly: readonly Mount[];
  readonly hidden: readonly Mount[];
}

/** `folders`: the workspace, then others that commands write; absolute, links resolved. */
export function createDeniedPlaces(folders: readonly string[], rules: readonly FileRule[]): DeniedPlaces {
  const [workspace = ""] = folders;
  const index = createDeniedIndex(folders, rules);
  const isWriteDenied = rules.some(({ kind }) => kind === "Write");
  let running = 0;
  let knownPaths = new Set<string>();
  let knownPlaces = new Set<string>();
  const note = ({ places }: DeniedState): void => {
    knownPaths = new Set(places.filter(({ target }) => target === undefined).map(({ path }) => path));
    knownPlaces = new Set(places.map(({ identity }) => identity));
  };
  return {
    begin() {
      const state = index.refresh();
      if (state.fault !== undefined) throw new Error(state.fault);
      // What appears while no command runs is the user's own.
      if (running === 0) note(state);
      running += 1;
      return toMounts(state);
    },
    end() {
      running -= 1;
      if (!isWriteDenied) return [];
      // A mount keeps a place that was there: a new file under its name comes from outside of the sandbox.
      const isNew = ({ path, identity }: DeniedPlace): boolean => !knownPaths.has(path) && !knownPlaces.has(identity);
      return takeAway(
        index.refresh().places.filter((place) => place.access === "read-only" && isNew(place)),
        workspace,
      );
    },
  };
}

/** A mount on a link would be one on its target. */
function toMounts({ places, ancestors }: DeniedState): DeniedMounts {
  const mounts = places.flatMap(({ path, target = path, access, isFolder }): Mount[] => {
    if (target === "") return [];
    if (access === "read-only") return [{ path: target, access }];
    return [{ path: target, access: isFolder ? "hidden-folder" : "hidden-file" }];
  });
  const isReadOnly = ({ access }: Mount): boolean => access === "read-only";
  return {
    kept: ancestors.map((path) => ({ path, access: "writable" })),
    readOnly: mounts.filter(isReadOnly),
    hidden: mounts.filter((mount) => !isReadOnly(mount)),
  };
}

function takeAway(places: readonly DeniedPlace[], workspace: string): string[] {
  if (places.length === 0) return [];
  const folder = mkdtempSync(join(tmpdir(), "sheaf-refused-"));
  return places.map(({ path, rule }, position) => {
    const target = join(folder, `${position}-${basename(path)}`);
    const reason = `The rule ${rule.text} denies to write ${JSON.stringify(relative(workspace, path))}`;
    return moveAway(path, target)
      ? `${reason}: it was taken away and lies in ${target}; tell the user if it is needed.`
      : `${reason}, but it could not be taken away: tell the user to look at it.`;
  });
}
