/** A place in the folders that commands write which they must not change, create or read. */
import { lstatSync } from "node:fs";
import { basename, relative } from "node:path";
import { readTarget } from "@sheaf/base/files/read-folder";
import { toVisible } from "@sheaf/base/files/workspace";
import { readStat, toIdentity } from "./folder-memory.ts";
import { type Mount, toExistingPath } from "./mounts.ts";

export interface HeldPlace {
  /** Absolute path, of which only the last part may be a link. */
  readonly path: string;
  readonly isLink: boolean;
  /** Device and inode. */
  readonly identity: string;
  /** The place is known if one of its keys is: it may get another path, and another place may get its path. */
  readonly keys: readonly string[];
  /** The access of commands to the place. Undefined: full access, but Sheaf takes a new place away. */
  readonly access?: "read-only" | "hidden" | undefined;
  /** The reason why a command must not make the place, as a sentence without a full stop; undefined if it may. */
  readonly refusal?: string | undefined;
}

/** Returns a path for messages. Commands choose names, so a name stays on its line, and short (S-92). */
export function toShownPath(path: string, workspace: string): string {
  const name = relative(workspace, path) || ".";
  return toVisible(JSON.stringify(name.length <= maxShown ? name : `${name.slice(0, maxShown)}…`));
}

/** Characters. */
const maxShown = 300;

/** Returns the place at a path, or an empty list if the path does not exist. A link's identity includes its target. */
export function toHeldPlace(path: string, facts: Pick<HeldPlace, "access" | "refusal">): HeldPlace[] {
  const stat = readStat(path);
  if (!stat) return [];
  const isLink = stat.isSymbolicLink();
  const identity = toIdentity(stat);
  const key = `${identity} ${basename(path)} ${isLink ? readTarget(path) : ""}`;
  return [{ path, isLink, identity, keys: [key], ...facts }];
}

/** A mount on a link would cover its target, so it uses the target. Sheaf finds replaced links after the command. */
export function toMounts({ path: named, isLink, access }: HeldPlace): Mount[] {
  const path = isLink ? toExistingPath(named) : named;
  if (path === undefined || access === undefined) return [];
  if (access !== "hidden") return [{ path, access }];
  const isFolder = lstatSync(path, { throwIfNoEntry: false })?.isDirectory();
  return [{ path, access: isFolder ? "hidden-folder" : "hidden-file" }];
}
