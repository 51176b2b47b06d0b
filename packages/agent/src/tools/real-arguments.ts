/** Arguments with the places that their paths lead to, so that a rule cannot be passed by a link (S-14, S-20). */
import type { Workspace } from "../workspace/workspace.ts";

/** Fields of every tool that hold a path, or several. */
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
export function listPaths(args: Readonly<Record<string, unknown>>): string[] {
  const values = Object.entries(args).filter(([field]) => pathFields.has(field));
  return values.flatMap(([, value]) => value).filter((value) => typeof value === "string");
}

type Arguments = Readonly<Record<string, unknown>>;

/**
 * The same arguments, each path relative to the workspace and without links; a path that is refused stays as it is.
 * The very same object where that changes nothing.
 */
export function toRealArguments(args: Arguments, workspace: Workspace): Arguments {
  const toReal = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(toReal);
    const resolved = typeof value === "string" ? workspace.resolve(value) : undefined;
    return resolved?.ok ? resolved.path.relative : value;
  };
  const changed = Object.entries(args).flatMap(([field, value]) => {
    const real = pathFields.has(field) ? toReal(value) : value;
    return real === value ? [] : [[field, real]];
  });
  return changed.length === 0 ? args : { ...args, ...Object.fromEntries(changed) };
}
