/** Detects links by which git would enter a folder that a command filled, or git's folders themselves (S-252). */
import { realpathSync } from "node:fs";
import { dirname, parse, resolve, sep } from "node:path";
import { followLinks } from "@sheaf/base/files/follow-links";
import { readTarget } from "@sheaf/base/files/read-folder";
import { isBelow } from "@sheaf/base/files/workspace";

/** The folder whose links point to files that the reading process has open. */
const processFolder = "/proc";
const gitPart = /(?:^|\/)\.git(?:\/|$)/i;

/** True if commands must not make the link. `places` are absolute. For a dangling link, its text decides. */
export function isForbiddenLink(path: string, places: readonly string[]): boolean {
  const written = resolve(dirname(path), readTarget(path));
  return [written, toRealTarget(written)].some(
    (target) => gitPart.test(target) || [processFolder, ...places].some((place) => isBelow(target, place)),
  );
}

function toRealTarget(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    const { root } = parse(path);
    try {
      return followLinks(root, path.split(sep)).target;
    } catch {
      return path;
    }
  }
}
