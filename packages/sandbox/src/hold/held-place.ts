/** A place in folders that commands write, which they must not change, create or read. */
import { lstatSync } from "node:fs";
import { basename, relative } from "node:path";
import { readTarget } from "@sheaf/base/files/read-folder";
import { toVisible } from "@sheaf/base/files/workspace";
import { readStat, toIdentity } from "./folder-memory.ts";
import { type Mount, toExistingPath } from "./mounts.ts";

export interface HeldPlace {
  /** Absolute; only the last part may be a link. */
  readonly path: string;
  readonly isLink: boolean;
  /** Device and inode. */
  readonly identity: string;
  /** It is known if one of them is: a place may get another path, and another place its path. */
  readonly keys: readonly string[];
  /** What commands may do with it; undefined: what they like, but a new one is taken away. */
  readonly access?: "read-only" | "hidden" | undefined;
  /** The reason why a command must not have made it, as a sentence without a full stop; undefined: it may. */
  readonly refusal?: string | undefined;
}

/** A path for messages: a name that a command chose stays on its line, and short (S-92). */
export function toShownPath(path: string, workspace: string): string {
  const name = relative(workspace, path) || ".";
  return toVisible(JSON.stringify(name.length <= maxShown ? name : `${name.slice(0, maxShown)}…`));
}

/** Characters. */
const maxShown = 300;

/** The place at a path; none if nothing is there. A link's target is part of what it is. */
export function toHeldPlace(path: string, facts: Pick<HeldPlace, "access" | "refusal">): HeldPlace[] {
  const stat = readStat(path);
  if (!stat) return [];
  const isLink = stat.isSymbolicLink();
  const identity = toIdentity(stat);
  const key = `${identity} ${basename(path)} ${isLink ? readTarget(path) : ""}`;
  return [{ path, isLink, identity, keys: [key], ...facts }];
}

/** A mount on a link would cover its target; a link that replaces it is found after the command. */
export function toMounts({ path: named, isLink, access }: HeldPlace): Mount[] {
  const path = isLink ? toExistingPath(named) : named;
  if (path === undefined || access === undefined) return [];
  if (access !== "hidden") return [{ path, access }];
  const isFolder = lstatSync(path, { throwIfNoEntry: false })?.isDirectory();
  return [{ path, access: isFolder ? "hidden-folder" : "hidden-file" }];
}
