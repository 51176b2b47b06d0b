/** What stands at a path of the workspace, for decisions about commands. */
import { statSync } from "node:fs";
import type { Workspace } from "./workspace.ts";

/** A file, a folder or nothing, at a path without links relative to the workspace. */
export interface WorkspacePlace {
  readonly kind: "file" | "folder" | "none";
  /** "." for the workspace itself. */
  readonly relative: string;
}

/** Follows paths as file tools do. Undefined: it leads out of the workspace, or to a device, a pipe or a socket. */
export function createPlaceFinder(workspace: Workspace): (path: string) => WorkspacePlace | undefined {
  return (path) => {
    const resolved = workspace.resolve(path);
    if (!resolved.ok) return undefined;
    const { absolute, relative } = resolved.path;
    try {
      const stats = statSync(absolute, { throwIfNoEntry: false });
      if (!stats) return { kind: "none", relative };
      if (stats.isDirectory()) return { kind: "folder", relative };
      return stats.isFile() ? { kind: "file", relative } : undefined;
    } catch {
      return undefined;
    }
  };
}
