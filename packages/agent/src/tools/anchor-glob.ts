/** Globs of search tools that are absolute or contain `..`: their folder must be inside the searched one. */
import { isAbsolute, posix } from "node:path";
import type { ToolError } from "@sheaf/protocol";
import type { Workspace, WorkspacePath } from "@sheaf/base/files/workspace";

export type AnchoredGlob =
  | { readonly ok: true; readonly glob: string }
  | { readonly ok: false; readonly error: ToolError };

/** Returns true if a glob has a fixed start: an absolute path, `~` or `..`. */
export function isPlaced(glob: string): boolean {
  return isAbsolute(glob) || hasParent(glob) || /^~[\w.-]*\//.test(glob);
}

/** Splits a placed glob into the absolute folder at its start, without `..`, and the glob for entries below it. */
function splitGlob(given: string, folder: string): { readonly start: string; readonly rest: string } {
  // The name of the folder itself has no wildcards.
  const glob = given.startsWith(`${folder}/`) ? given.slice(folder.length + 1) : given;
  const names = glob.split("/");
  const first = names.findIndex((name) => /[*?[{\\]/.test(name));
  const count = first === -1 ? names.length : first;
  const start = posix.resolve(folder, ...(isAbsolute(glob) ? ["/"] : []), ...names.slice(0, count));
  return { start, rest: names.slice(count).join("/") };
}

/** Makes a placed glob relative to the searched folder. Errors: PATH_OUTSIDE_WORKSPACE, INVALID_PATTERN and others. */
export function anchorGlob(glob: string, workspace: Workspace, folder: WorkspacePath): AnchoredGlob {
  const { start, rest } = splitGlob(glob, folder.absolute);
  const shown = JSON.stringify(glob.slice(0, 100));
  if (glob.startsWith("~")) {
    return toFault(
      "PATH_INVALID",
      `the glob ${shown} has a ~, which is not expanded: write it relative to the workspace`,
    );
  }
  if (hasParent(rest)) {
    return toFault(
      "INVALID_PATTERN",
      `the glob ${shown} has ".." after a wildcard or in braces: write it without ".."`,
    );
  }
  const resolved = workspace.resolve(start);
  if (!resolved.ok) {
    if (resolved.error.code !== "PATH_OUTSIDE_WORKSPACE") return resolved;
    const message = `the glob ${shown} leaves the workspace ${workspace.root}: write a glob of files inside it`;
    return toFault("PATH_OUTSIDE_WORKSPACE", message);
  }
  const inner = posix.relative(folder.relative, resolved.path.relative);
  if (inner === ".." || inner.startsWith("../")) {
    return toFault("INVALID_PATTERN", `the glob ${shown} leaves ${folder.named}: search its own folder`);
  }
  return { ok: true, glob: [toLiteral(inner), rest].filter((part) => part !== "").join("/") };
}

/** Escapes a path, so that a glob matches it literally. */
export function toLiteral(path: string): string {
  return path.replaceAll(/[*?[\]{},!\\]/g, String.raw`\$&`);
}

/** Returns true if a glob has `..` as a whole name, even in braces. */
function hasParent(glob: string): boolean {
  return /(?:^|[/{,])\.\.(?:$|[/},])/.test(glob);
}

function toFault(code: string, message: string): AnchoredGlob {
  return { ok: false, error: { code, message, details: "" } };
}
