/** Paths in arguments: where they lead, so that a link cannot bypass a rule (S-14, S-20), and in which folder a call works. */
import { isAbsolute, resolve } from "node:path";
import { isBelow, type PathResolution, type Workspace, type WorkspacePath } from "../workspace/workspace.ts";

/** Fields of any tool that contain one or more paths. */
const pathFields: ReadonlySet<string> = new Set([
  "target_file",
  "source_file",
  "destination_file",
  "target_directory",
  "target_directories",
  "path",
  "working_directory",
]);

/** All paths that a call names. */
function listPaths(args: Readonly<Record<string, unknown>>): string[] {
  const values = Object.entries(args).filter(([field]) => pathFields.has(field));
  return values.flatMap(([, value]) => value).filter((value) => typeof value === "string");
}

type Arguments = Readonly<Record<string, unknown>>;
type ResolvedPath = Extract<PathResolution, { readonly ok: true }>;

/**
 * The arguments as written, with each path as the entry that it names, and with each path as the place where it leads,
 * both relative to the workspace. A path that is refused stays unchanged.
 */
export function listSpellings(args: Arguments, workspace: Workspace): readonly Arguments[] {
  const entries = replacePaths(args, workspace, ({ path, entry = path }) => entry);
  const targets = replacePaths(args, workspace, ({ path }) => path);
  return [...new Set([args, entries, targets])];
}

/** The same object if nothing changes. */
function replacePaths(
  args: Arguments,
  workspace: Workspace,
  choose: (resolved: ResolvedPath) => WorkspacePath,
): Arguments {
  const replace = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(replace);
    const resolved = typeof value === "string" ? workspace.resolve(value) : undefined;
    return resolved?.ok ? choose(resolved).relative : value;
  };
  const changed = Object.entries(args).flatMap(([field, value]) => {
    const real = pathFields.has(field) ? replace(value) : value;
    return real === value ? [] : [[field, real]];
  });
  return changed.length === 0 ? args : { ...args, ...Object.fromEntries(changed) };
}

/** The parts of a call that name paths. */
interface NamingCall {
  readonly toolName: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/**
 * An added folder is named by absolute paths only. A call with paths in several folders works in the workspace, which
 * refuses those outside of it.
 */
export function chooseWorkspace(call: NamingCall, workspace: Workspace, added: readonly Workspace[] = []): Workspace {
  if (added.length === 0) return workspace;
  const paths = listPaths(call.arguments);
  return added.find((folder) => paths.length > 0 && paths.every((path) => isNamedIn(path, folder))) ?? workspace;
}

/** The added folders named by a call that worked in the workspace: they are why it was refused. */
export function listOtherFolders(call: NamingCall, added: readonly Workspace[] = []): string[] {
  const paths = listPaths(call.arguments);
  return added.filter((folder) => paths.some((path) => isNamedIn(path, folder))).map(({ root }) => root);
}

/** By its own path, or by one that leads into it. */
function isNamedIn(path: string, folder: Workspace): boolean {
  return isAbsolute(path) && (isBelow(resolve(path), folder.root) || folder.resolve(path).ok);
}
