/** Links followed step by step, so that also a path that does not exist yet has one real place. */
import { lstatSync, readlinkSync } from "node:fs";
import { dirname, isAbsolute, parse, sep } from "node:path";
import { createFileFault, getFaultCode } from "./file-error.ts";

/** As many as Linux follows. */
const MAX_LINKS = 40;

/**
 * The place that `segments` below `folder` lead to, as far as links exist; what does not exist is taken as written.
 * `folder` is absolute and without links.
 * @throws an error of the file system: ELOOP for a circle of links, EACCES for a folder that may not be searched.
 */
export function toRealPath(folder: string, segments: readonly string[]): string {
  const pending = segments.toReversed();
  let current = folder;
  let links = 0;
  for (let segment = pending.pop(); segment !== undefined; segment = pending.pop()) {
    if (segment === "" || segment === ".") continue;
    if (segment === "..") {
      current = dirname(current);
      continue;
    }
    const next = current.endsWith(sep) ? current + segment : current + sep + segment;
    const target = readLink(next);
    if (target === undefined) {
      current = next;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) throw createFileFault("ELOOP");
    if (isAbsolute(target)) current = parse(target).root;
    pending.push(...target.split(sep).toReversed());
  }
  return current;
}

/** Undefined where there is no link. Asked for first: an error costs more than the question. */
function readLink(path: string): string | undefined {
  try {
    if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return undefined;
    return readlinkSync(path);
  } catch (error) {
    const code = getFaultCode(error);
    if (code === "EINVAL" || code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}
