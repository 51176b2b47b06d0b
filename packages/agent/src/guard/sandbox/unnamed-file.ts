/** Files without a name, for processes that are given an open file or its path in `/proc`. */
import { closeSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { isBelow } from "./mount-plan.ts";
import { toExistingPath } from "./mounts.ts";
import { toRunPrefix } from "./private-folder.ts";

/** Its descriptor. Only this user can open it. @throws What the system says. */
export function openUnnamedFile(content: string | Uint8Array): number {
  const path = join(tmpdir(), toRunPrefix() + randomUUID());
  const descriptor = openSync(path, "wx+", 0o600);
  try {
    rmSync(path);
    // All of it: a disk that is nearly full takes a part, and what is cut off could be a restriction.
    writeFileSync(descriptor, content);
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** Whether somebody who may write in these folders could open one in the moment in which it has a name. */
export function areFilesReachable(folders: readonly string[]): boolean {
  const place = toExistingPath(tmpdir());
  return place === undefined || folders.some((folder) => isBelow(place, folder));
}
