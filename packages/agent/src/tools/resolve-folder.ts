/** Resolves the folder or file of a call. */
import type { FileResult } from "@sheaf/base/files/file-error";
import { readKind } from "@sheaf/base/files/read-folder";
import type { Workspace, WorkspacePath } from "@sheaf/base/files/workspace";
import { toMissingFileError } from "./failure.ts";

interface Place {
  readonly path: WorkspacePath;
  readonly kind: Exclude<ReturnType<typeof readKind>, "missing">;
}

/** Resolves a path; by default the folder in which the tool works. Errors: FILE_NOT_FOUND and errors of paths. */
export function resolvePlace(workspace: Workspace, named: string | undefined): FileResult<Place> {
  const resolved = workspace.resolve(named?.trim() ? named : ".");
  if (!resolved.ok) return resolved;
  const { path } = resolved;
  const kind = readKind(workspace.root, path.relative);
  if (kind === "missing") return { ok: false, error: toMissingFileError(workspace.root, path) };
  return { ok: true, value: { path, kind } };
}

/** Resolves a folder in the same way. Further error: NOT_A_DIRECTORY. */
export function resolveFolder(workspace: Workspace, named: string | undefined): FileResult<WorkspacePath> {
  const place = resolvePlace(workspace, named);
  if (!place.ok) return place;
  const { path, kind } = place.value;
  if (kind === "folder") return { ok: true, value: path };
  const message = `${path.named} is not a folder: use read_file, or name the folder that contains it`;
  return { ok: false, error: { code: "NOT_A_DIRECTORY", message, details: "" } };
}
