/** Deletes and moves single files. */
import { lstatSync, unlinkSync } from "node:fs";
import type { ToolError } from "@sheaf/protocol";
import { dirname, isAbsolute, posix, resolve } from "node:path";
import { moveToFreeName } from "./atomic-write.ts";
import { createFileFault, runFileWork, toFileError, type FileResult } from "./file-error.ts";
import { type FileIdentity, isSameFile, toFileIdentity } from "./open-file.ts";
import { openFolder, type OpenFolder, withEntry } from "./open-folder.ts";
import { findProtection } from "./protected-names.ts";
import { readTarget } from "./read-folder.ts";
import { isBelow, type PathResolution, toOutsideError, type Workspace, type WorkspacePath } from "./workspace.ts";

/** Resolves a path to its entry: a link at its end, not the link's target. Refuses a link out of the workspace. */
export function resolveEntry(workspace: Workspace, path: string): PathResolution {
  const resolved = workspace.resolve(path);
  if (!resolved.ok) return resolved;
  const { entry } = resolved;
  if (!entry) return { ok: false, error: toOutsideError(path, workspace.root) };
  if (entry.relative === ".") return { ok: false, error: toFileError(createFileFault("EISDIR"), entry.named) };
  return { ok: true, path: entry, entry };
}

/**
 * Deletes a file or a link. `expected` is the entry at an earlier look, also a pipe or socket: if it has changed, it
 * stays. Errors: PROTECTED_PATH, STALE_FILE, FILE_NOT_FOUND, IS_A_DIRECTORY, NOT_A_FILE and others.
 */
export async function removeFile(
  workspace: Workspace,
  path: WorkspacePath,
  expected?: FileIdentity,
): Promise<FileResult<void>> {
  const protection = findProtection(workspace, path);
  if (protection) return { ok: false, error: protection };
  return runFileWork(path.named, async () =>
    withEntry(workspace.root, path.relative, (entry) => {
      const found = checkMovable(entry, expected !== undefined);
      if (expected && !isSameFile(found, expected)) throw createFileFault("STALE_FILE");
      unlinkSync(entry);
    }),
  );
}

/**
 * Moves a file or a link to a free name, and creates missing folders. Errors: PROTECTED_PATH for either name,
 * FILE_NOT_FOUND, FILE_EXISTS, IS_A_DIRECTORY, OTHER_FILE_SYSTEM and others.
 */
export async function moveFile(
  workspace: Workspace,
  from: WorkspacePath,
  to: WorkspacePath,
): Promise<FileResult<void>> {
  const protection = findProtection(workspace, from) ?? findProtection(workspace, to);
  if (protection) return { ok: false, error: protection };
  const leading = findLeadingOut(workspace, from, to);
  if (leading) return { ok: false, error: leading };
  const source = await runFileWork(from.named, async () => {
    const folder = openFolder(workspace.root, posix.dirname(from.relative));
    try {
      checkMovable(toEntry(folder, from));
      return folder;
    } catch (error) {
      folder.close();
      throw error;
    }
  });
  if (!source.ok) return source;
  try {
    const move = (entry: string): void => moveToFreeName(toEntry(source.value, from), entry);
    return await runFileWork(to.named, async () => withEntry(workspace.root, to.relative, move, { create: true }));
  } finally {
    source.value.close();
  }
}

/** Returns the error for a relative link, which from a new place may point into a folder that commands fill (S-252). */
function findLeadingOut(workspace: Workspace, from: WorkspacePath, to: WorkspacePath): ToolError | undefined {
  const target = readTarget(from.absolute);
  const isInside = isAbsolute(target) || isBelow(resolve(dirname(to.absolute), target), workspace.root);
  return isInside ? undefined : toOutsideError(to.named, workspace.root);
}

function toEntry(folder: OpenFolder, path: WorkspacePath): string {
  return folder.entry(posix.basename(path.relative));
}

/** Refuses whole folders, which may contain protected names. */
function checkMovable(entry: string, mayBeSpecial = false): FileIdentity {
  const stats = lstatSync(entry, { bigint: true });
  if (stats.isDirectory()) throw createFileFault("EISDIR");
  if (!mayBeSpecial && !stats.isFile() && !stats.isSymbolicLink()) throw createFileFault("NOT_A_FILE");
  return toFileIdentity(stats);
}
