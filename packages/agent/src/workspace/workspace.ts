/** Paths of the workspace; every file tool goes through it. */
import type { ToolError } from "@sheaf/protocol";

/** A path inside the workspace, checked. */
export interface WorkspacePath {
  /** Absolute, links resolved as far as it exists. */
  readonly absolute: string;
  /** Relative to the root with `/`; "." for the root. */
  readonly relative: string;
  /** The same as it was named: relative (in an added folder absolute), but with the links in it. Documents show it (N21). */
  readonly named: string;
}

/** A checked path, or why it was refused. */
export type PathResolution =
  | { readonly ok: true; readonly path: WorkspacePath }
  | { readonly ok: false; readonly error: ToolError };

export interface Workspace {
  /** Absolute, links resolved. */
  readonly root: string;
  /** The path that a model wrote, checked (S-20); a refusal is a value. */
  resolve(path: string): PathResolution;
}
