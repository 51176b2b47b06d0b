/** The mounts of one command, made anew for each: a file may have become protected or secret since (S-30, S-34). */
import { sep } from "node:path";
import type { DeniedMounts } from "./denied-places.ts";
import { type Mount, sortMounts, toHiddenMounts } from "./mounts.ts";

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
function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
