/** What a model wants to do to a file, read from its complete arguments. */
import type { FileDiff, FileEditMetadata, FileOperation } from "@sheaf/protocol";
import { pathArguments } from "./file-edit-draft.ts";
import { toLanguage } from "./language.ts";
import { type ToolArguments, toListArgument, toTextArgument } from "./tool-arguments.ts";
import { toFileOperation } from "./tool-names.ts";
import { toWorkspacePath } from "./workspace-path.ts";

/** A file_edit as far as the arguments tell it (N11, N12, N31 to N33). */
export interface FileEditAttempt {
  readonly metadata: Pick<FileEditMetadata, "filePath" | "operation" | "language" | "diff" | "newFilePath">;
  /** Null for delete and rename; undefined if the arguments do not tell it. */
  readonly content: string | null | undefined;
}

export function toFileEditAttempt(toolName: string, values: ToolArguments, workspace: string): FileEditAttempt {
  const filePath = toWorkspacePath(toTextArgument(values, ...pathArguments) ?? "", workspace);
  const operation = toFileOperation(toolName) ?? (toListArgument(values, "edits").length > 0 ? "edit" : "create");
  const language = toLanguage(filePath);
  if (operation === "edit") {
    const diff = toDiff(values);
    return { metadata: { filePath, operation, language, diff }, content: diff.newString };
  }
  if (operation === "rename") return toRename(filePath, values, workspace);
  const content = operation === "delete" ? null : toTextArgument(values, "content");
  return { metadata: { filePath, operation, language }, content };
}

/** N32: the language is that of the new name. */
function toRename(filePath: string, values: ToolArguments, workspace: string): FileEditAttempt {
  const operation: FileOperation = "rename";
  const newFilePath = toWorkspacePath(toTextArgument(values, "destination_file") ?? "", workspace);
  return { metadata: { filePath, operation, language: toLanguage(newFilePath), newFilePath }, content: null };
}

/**
 * The diff of an edit whose file nobody has looked at: where the text stands is not known, so both lines are 0.
 * Several edits are joined with line ends: a client can show what was tried.
 */
function toDiff(values: ToolArguments): FileDiff {
  const edits = toListArgument(values, "edits");
  return {
    oldString: edits.map((edit) => toTextArgument(edit, "old_string") ?? "").join("\n"),
    newString: edits.map((edit) => toTextArgument(edit, "new_string") ?? "").join("\n"),
    startLine: 0,
    endLine: 0,
  };
}
