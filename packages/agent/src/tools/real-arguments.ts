/** Resolves paths in arguments, so that a link cannot bypass a rule (S-14, S-20), and finds the folder of a call. */
import { isAbsolute, resolve } from "node:path";
import type { CallPaths, PlacedPaths } from "@sheaf/permissions/decision";
import { isBelow, type PathResolution, type Workspace, type WorkspacePath } from "@sheaf/base/files/workspace";
import type { GivenArguments, ToolTraits } from "./tool-traits.ts";

type ResolvedPath = Extract<PathResolution, { readonly ok: true }>;

/** Returns the paths of a call, as its tool describes them; undefined if the tool does not. */
export function listPaths({ paths }: Pick<ToolTraits, "paths">, args: GivenArguments): CallPaths | undefined {
  if (!paths) return undefined;
  const toPaths = (fields: readonly string[] = []): string[] =>
    fields.flatMap((field) => args[field]).filter((value) => typeof value === "string");
  const folders = toPaths(paths.folders);
  return { files: toPaths(paths.files), folders: paths.folders && folders.length === 0 ? ["."] : folders };
}

/**
 * Returns the paths as written, as entries, and as the places behind links, the latter two relative to the workspace. A
 * path that the workspace refuses stays unchanged.
 */
export function listSpellings(paths: CallPaths, workspace: Workspace): readonly PlacedPaths[] {
  const { root } = workspace;
  const replace = (choose: (resolved: ResolvedPath) => WorkspacePath): PlacedPaths => {
    const toReal = (path: string): string => {
      const resolved = workspace.resolve(path);
      return resolved.ok ? choose(resolved).relative : path;
    };
    return { files: paths.files.map(toReal), folders: paths.folders.map(toReal), root };
  };
  return [{ ...paths, root }, replace(({ path, entry = path }) => entry), replace(({ path }) => path)];
}

/**
 * Chooses an added folder if it has all paths of a call, which must be absolute. A call with paths in several folders
 * works in the workspace, which refuses the others.
 */
export function chooseWorkspace(
  paths: CallPaths | undefined,
  workspace: Workspace,
  added: readonly Workspace[] = [],
): Workspace {
  const named = paths ? [...paths.files, ...paths.folders] : [];
  return added.find((folder) => named.length > 0 && named.every((path) => isNamedIn(path, folder))) ?? workspace;
}

/** Returns the added folders in the paths of a call that worked in the workspace: the reason for its refusal. */
export function listOtherFolders(paths: CallPaths | undefined, added: readonly Workspace[] = []): string[] {
  const named = paths ? [...paths.files, ...paths.folders] : [];
  return added.filter((folder) => named.some((path) => isNamedIn(path, folder))).map(({ root }) => root);
}

/** Returns true if an absolute path is in the folder, by itself or through a link. */
function isNamedIn(path: string, folder: Workspace): boolean {
  return isAbsolute(path) && (isBelow(resolve(path), folder.root) || folder.resolve(path).ok);
}
