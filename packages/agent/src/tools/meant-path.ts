/** The path that a model may mean if its path is missing or outside the workspace. */
import { basename, isAbsolute, posix } from "node:path";
import { parseGlob } from "@sheaf/base/files/glob";
import { readKind, toLine } from "@sheaf/base/files/read-folder";
import type { Workspace } from "@sheaf/base/files/workspace";
import type { CallPaths } from "@sheaf/permissions/decision";
import { toLiteral } from "./anchor-glob.ts";
import { findFiles } from "./glob-search.ts";
import type { ToolReturn } from "./tool.ts";

/** Most entries in a search for a file in another folder. */
const MAX_VISITED = 20_000;

/** Most files in a message. */
const MAX_NAMED = 3;

/** Adds "did you mean" to an outcome if the call's path is a part of another one, or the reverse. */
export async function withMeantPath(
  outcome: ToolReturn,
  workspace: Workspace,
  { paths, signal }: { readonly paths: CallPaths | undefined; readonly signal: AbortSignal },
): Promise<ToolReturn> {
  const { error } = outcome;
  const named = [...(paths?.files ?? []), ...(paths?.folders ?? [])].find((path) => error?.message.includes(path));
  if (!error || named === undefined) return outcome;
  if (error.code === "PATH_OUTSIDE_WORKSPACE" && isAbsolute(named)) {
    const meant = findEnd(named, workspace);
    const message = `${error.message}. Did you mean "${meant}"?`;
    return meant === undefined ? outcome : { ...outcome, error: { ...error, message } };
  }
  const glob = error.code === "FILE_NOT_FOUND" && parseGlob(`**/${toLiteral(basename(named))}`);
  const { files, total } = glob ? await findFiles(workspace, ".", glob, signal, MAX_VISITED) : { files: [], total: 0 };
  if (total === 0 || total > MAX_NAMED) return outcome;
  const shown = files.map((file) => toLine(isAbsolute(named) ? posix.join(workspace.root, file) : file));
  const message = error.message.replace(/: (?:did you mean|look for it) .*$/, `: did you mean ${shown.join(" or ")}?`);
  return { ...outcome, error: { ...error, message } };
}

/** Finds the path that a model means: it may write `/src/x.ts`, or start with a folder that is not there. */
function findEnd(path: string, { root }: Workspace): string | undefined {
  const names = posix.normalize(path).split("/").filter(Boolean);
  const ends = names.map((_, index) => names.slice(index).join("/"));
  const isThere = (place: string): boolean => readKind(root, place) !== "missing";
  return ends.find(isThere) ?? (names.length > 1 && isThere(names[0]!) ? ends[0] : undefined);
}
