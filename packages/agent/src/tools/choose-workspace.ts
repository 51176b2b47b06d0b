/** In which folder a call works: the workspace, or one that the user added (`--add-dir`). */
import { isAbsolute, resolve, sep } from "node:path";
import type { Workspace } from "../workspace/workspace.ts";
import { listPaths } from "./real-arguments.ts";

/** Tools whose work is about the workspace as a whole. */
const bound: ReadonlySet<string> = new Set(["add_instrumentation", "remove_instrumentation"]);

/**
 * An added folder is named by absolute paths alone. A call whose paths lie in several folders works in the workspace,
 * which refuses those that lie outside of it.
 */
export function chooseWorkspace(
  call: { readonly toolName: string; readonly arguments: Readonly<Record<string, unknown>> },
  workspace: Workspace,
  added: readonly Workspace[] = [],
): Workspace {
  if (added.length === 0 || bound.has(call.toolName)) return workspace;
  const paths = listPaths(call.arguments);
  const isIn = ({ root }: Workspace): boolean =>
    paths.length > 0 && paths.every((path) => isAbsolute(path) && `${resolve(path)}${sep}`.startsWith(root + sep));
  return added.find(isIn) ?? workspace;
}
