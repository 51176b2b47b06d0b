/** Finds the target of a path from open folders: it does not follow a link that has replaced a folder (S-84). */
import { lstatSync, readlinkSync } from "node:fs";
import { dirname, isAbsolute, join, parse, relative, sep } from "node:path";
import { createFileFault, getFaultCode } from "./file-error.ts";
import { type OpenFolder, openFolder } from "./open-folder.ts";

/** Most links to follow, as in Linux. */
const MAX_LINKS = 40;

/** The target of a path. Both places are absolute. */
export interface FollowedPath {
  /** The place without links, as far as it exists; the rest is as in the path. */
  readonly target: string;
  /** The same place, but without following a link at the end of the path. */
  readonly entry: string;
}

/**
 * Follows `segments` from `start`, an absolute folder without links. `onLink` gets the rest of the path at each link.
 * @throws an error of the file system: ELOOP for a circle of links, EACCES for a folder that may not be searched.
 */
export function followLinks(start: string, segments: readonly string[], onLink?: (path: string) => void): FollowedPath {
  const pending = segments.filter((segment) => segment !== "" && segment !== ".").toReversed();
  let entry: string | undefined = pending.length === 0 ? start : undefined;
  let links = 0;
  const place = new Place(start);
  try {
    for (let segment = pending.pop(); segment !== undefined; segment = pending.pop()) {
      if (pending.length === 0) entry ??= join(place.path, segment);
      const target = segment === ".." ? undefined : place.readLink(segment);
      if (target === undefined) {
        place.enter(segment, pending.length > 0);
        continue;
      }
      links += 1;
      onLink?.(join(place.path, segment, ...pending.toReversed()));
      if (links > MAX_LINKS) throw createFileFault("ELOOP");
      if (isAbsolute(target)) place.goTo(parse(target).root);
      const further = target.split(sep).filter((name) => name !== "" && name !== ".");
      pending.push(...further.toReversed());
    }
    return { target: place.path, entry: entry ?? place.path };
  } finally {
    place.close();
  }
}

/** A folder on the way. It is open, because only an open folder can show if an entry is a link. */
class Place {
  #path: string;
  /** Undefined if it does not exist, or if the path has no further name in it. */
  #folder: OpenFolder | undefined;

  constructor(path: string) {
    this.#path = path;
    this.#folder = openIfFolder(() => openFolder(path, "."));
  }

  get path(): string {
    return this.#path;
  }

  /** Returns the text of a link, undefined for any other entry. `lstat` runs first, since an error is slower. */
  readLink(name: string): string | undefined {
    if (!this.#folder) return undefined;
    const path = this.#folder.entry(name);
    try {
      if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return undefined;
      return readlinkSync(path);
    } catch (error) {
      if (["EINVAL", "ENOENT", "ENOTDIR"].includes(getFaultCode(error))) return undefined;
      throw error;
    }
  }

  /** Enters a name that is not a link. `isFolder`: further names follow. */
  enter(name: string, isFolder: boolean): void {
    if (name === "..") {
      this.goTo(dirname(this.#path));
      return;
    }
    const outer = this.#folder;
    this.#path = join(this.#path, name);
    this.#folder = outer && isFolder ? openIfFolder(() => outer.open(name)) : undefined;
    outer?.close();
  }

  /** Moves to a folder whose path has no links. */
  goTo(path: string): void {
    this.close();
    this.#path = path;
    const { root } = parse(path);
    this.#folder = openIfFolder(() => openFolder(root, relative(root, path)));
  }

  close(): void {
    this.#folder?.close();
    this.#folder = undefined;
  }
}

function openIfFolder(open: () => OpenFolder): OpenFolder | undefined {
  try {
    return open();
  } catch (error) {
    // ELOOP means that a link has just appeared: it is not followed.
    if (["ENOENT", "ENOTDIR", "ELOOP"].includes(getFaultCode(error))) return undefined;
    throw error;
  }
}
