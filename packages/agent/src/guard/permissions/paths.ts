/** The paths in the arguments of a tool. */

/** Files that a call names, and folders that it looks through. */
export interface CallPaths {
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

const fileFields = ["target_file", "source_file", "destination_file"] as const;

/** The one field of each search tool; without it the tool looks through the workspace. */
const folderFields: Readonly<Record<string, string>> = {
  list_dir: "target_directory",
  glob_search: "target_directory",
  grep_search: "path",
  codebase_search: "target_directories",
};

/** Tools that name files and look through no folder. */
const fileTools: ReadonlySet<string> = new Set([
  "read_file",
  "edit_file",
  "write_file",
  "delete_file",
  "rename_file",
  "add_instrumentation",
  "remove_instrumentation",
]);

/** Of a tool that is not known here, the whole workspace is meant. Fields that a tool does not have do not count (S-14). */
export function toPaths(toolName: string, args: Readonly<Record<string, unknown>>): CallPaths {
  const files = fileFields.flatMap((field) => toStrings(args[field]));
  if (fileTools.has(toolName)) return { files, folders: [] };
  const field = folderFields[toolName];
  const folders = field === undefined ? [] : toStrings(args[field]);
  return { files, folders: folders.length === 0 ? ["."] : folders };
}

function toStrings(value: unknown): string[] {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values.filter((entry) => typeof entry === "string");
}
