/** Whether a file tool may run with these arguments. */
import { allow, deny, type PermissionDecision, type ToolAccess } from "./decision.ts";
import type { FileRule, Rule } from "./rule.ts";

interface FileCall {
  readonly toolName: string;
  readonly access: ToolAccess;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/**
 * File tools may read and write inside the workspace, except what a rule denies. A file that must not be read must not
 * be edited or moved either, since the result would show it. A search is refused if its folder could contain such a file.
 * Of commands, those on the read-only list obey Read rules here; for all others the sandbox enforces both kinds.
 */
export function decideFiles(call: FileCall, denies: readonly Rule[]): PermissionDecision {
  const { files, folders } = toPaths(call.toolName, call.arguments);
  for (const rule of denies) {
    if (rule.kind !== "Read" && !(rule.kind === "Write" && call.access === "write")) continue;
    const path = files.find((file) => rule.glob.isCovering(file));
    if (path !== undefined) {
      const reason = `the rule ${rule.text} denies ${call.toolName} on ${toShown(path)}: leave this file, and tell the user`;
      return deny(reason, rule.text);
    }
    const folder = rule.kind === "Read" ? folders.find((candidate) => rule.glob.mayMatchBelow(candidate)) : undefined;
    if (folder !== undefined) return refuseFolder(call.toolName, rule, folder);
  }
  return allow("file tools work inside the workspace");
}

function refuseFolder(toolName: string, rule: FileRule, folder: string): PermissionDecision {
  const reason = `${toolName} in ${toShown(folder)} could show a file that the rule ${rule.text} denies`;
  const advice = "name a folder that cannot contain one, or read files by name with read_file";
  return deny(`${reason}: ${advice}`, rule.text);
}

/** A path of the model in one short line. */
function toShown(path: string): string {
  return JSON.stringify(path.slice(0, 200));
}

/** Files that a call names, and folders that it searches. */
interface CallPaths {
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

const fileFields = ["target_file", "source_file", "destination_file"] as const;

/** The folder field of each search tool; without it the tool searches the workspace. */
const folderFields: Readonly<Record<string, string>> = {
  list_dir: "target_directory",
  glob_search: "target_directory",
  grep_search: "path",
  codebase_search: "target_directories",
};

/** Tools that name files and search no folder. */
const fileTools: ReadonlySet<string> = new Set([
  "read_file", "edit_file", "write_file", "delete_file", "rename_file",
]); // prettier-ignore

/** An unknown tool touches the whole workspace. Fields that a tool does not have do not count (S-14). */
function toPaths(toolName: string, args: Readonly<Record<string, unknown>>): CallPaths {
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
