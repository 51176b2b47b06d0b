/** Takes a file or folder out of the workspace without losing it. */
import { cpSync, lstatSync, renameSync, rmSync } from "node:fs";

/** Whether it is gone from its place; `target` is a path of this user only, where nothing is yet. */
export function moveAway(path: string, target: string): boolean {
  if (!lstatSync(path, { throwIfNoEntry: false })) return true;
  try {
    renameSync(path, target);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EXDEV") return false;
  }
  try {
    // Links are copied as links: what they lead to is not read.
    cpSync(path, target, { recursive: true, verbatimSymlinks: true });
    rmSync(path, { recursive: true, force: true });
    return true;
  } catch {
    return false;
  }
}
