/** Removes what a command must not have created from the workspace, without losing it. */
import { cpSync, lstatSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

/** A file or folder to take away. */
export interface RefusedPlace {
  /** Absolute. */
  readonly path: string;
  /** Why, without a full stop. */
  readonly reason: string;
}

/** Moves each into a new folder that only this user can open. Returns a sentence for each, for the model and the user. */
export function takeAway(places: readonly RefusedPlace[]): string[] {
  if (places.length === 0) return [];
  const folder = mkdtempSync(join(tmpdir(), "sheaf-refused-"));
  return places.map(({ path, reason }, position) => {
    const target = join(folder, `${position}-${basename(path)}`);
    return moveAway(path, target)
      ? `${reason}: it was moved to ${target}; tell the user if it is needed.`
      : `${reason}, but it could not be moved away: tell the user to look at it.`;
  });
}

/** Whether the place is empty now. `target` does not exist yet. */
function moveAway(path: string, target: string): boolean {
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
