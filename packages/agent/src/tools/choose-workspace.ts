/** In which folder a call works: the workspace, or one that the user added (`--add-dir`). */
import { isAbsolute, resolve, sep } from "node:path";
import type { Workspace } from "../workspace/workspace.ts";
import { listPaths } from "./real-arguments.ts";

/** Tools whose work is about the workspace as a whole. */
const bound: ReadonlySet<string> = new Set(["add_instrumentation", "remove_instrumentation"]);

/** What of a call names paths. */
interface NamingCall {
  readonly toolName: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/**
 * An added folder is named by absolute paths alone. A call whose paths lie in several folders works in the workspace,
 * which refuses those that lie outside of it.
 */
export function chooseWorkspace(call: NamingCall, workspace: Workspace, added: readonly Workspace[] = []): Workspace {
  if (added.length === 0 || bound.has(call.toolName)) return workspace;
  const paths = listPaths(call.arguments);
  return added.find((folder) => paths.length > 0 && paths.every((path) => isNamedIn(path, folder))) ?? workspace;
}

/** The added folders that a call names which worked in the workspace: for them it was refused. */
export function listOtherFolders(call: NamingCall, added: readonly Workspace[] = []): string[] {
  if (bound.has(call.toolName)) return [];
  const paths = listPaths(call.arguments);
  return added.filter((folder) => paths.some((path) => isNamedIn(path, folder))).map(({ root }) => root);
}

function isNamedIn(path: string, { root }: Workspace): boolean {
  return isAbsolute(path) && `${resolve(path)}${sep}`.startsWith(root + sep);
}
