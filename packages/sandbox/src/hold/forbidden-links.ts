/** Links by which git would enter a folder that a command filled, or git's own (S-252). */
import { realpathSync } from "node:fs";
import { dirname, parse, resolve, sep } from "node:path";
import { followLinks } from "@sheaf/base/files/follow-links";
import { readTarget } from "@sheaf/base/files/read-folder";
import { isBelow } from "@sheaf/base/files/workspace";

/** Links in it point to whatever the process that follows them has open. */
const processFolder = "/proc";
const gitPart = /(?:^|\/)\.git(?:\/|$)/i;

/** True if commands may not make a link. `places`: absolute. A dangling link is taken as written. */
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
