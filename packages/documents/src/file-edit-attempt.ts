/** What a model wants to do to a file, read from its complete arguments. */
import type { FileDiff, FileEditMetadata } from "@sheaf/protocol";
import { pathArguments } from "./file-edit-draft.ts";
import { toLanguage } from "./language.ts";
import { findTextArgument, type ToolArguments, toListArgument, toTextArgument } from "./tool-arguments.ts";
import { toFileOperation } from "./tool-names.ts";
import { toWorkspacePath } from "./workspace-path.ts";

/** A file_edit as far as the arguments tell it (N11, N12, N31 to N33). */
export interface FileEditAttempt {
  readonly metadata: Pick<FileEditMetadata, "filePath" | "operation" | "language" | "diff" | "newFilePath">;
  /** Null for delete and rename; undefined if the arguments do not tell it. */
  readonly content: string | null | undefined;
}

export function toFileEditAttempt(
  toolName: string,
  values: ToolArguments | undefined,
  workspace: string,
): FileEditAttempt {
  const path = pathArguments.map((name) => findTextArgument(values, name)).find((found) => found !== undefined);
  const filePath = toWorkspacePath(path ?? "", workspace);
  const edits = toListArgument(values, "edits");
  const operation = toFileOperation(toolName) ?? (edits.length > 0 ? "edit" : "create");
  const metadata = { filePath, operation, language: toLanguage(filePath) };
  switch (operation) {
    case "create":
      return { metadata, content: findTextArgument(values, "content") };
    case "delete":
      return { metadata, content: null };
    case "edit": {
      const diff = toDiff(edits);
      return { metadata: { ...metadata, diff }, content: diff.newString };
    }
    case "rename": {
      // N32: the language is that of the new name.
      const newFilePath = toWorkspacePath(toTextArgument(values, "destination_file"), workspace);
      return { metadata: { ...metadata, language: toLanguage(newFilePath), newFilePath }, content: null };
    }
  }
}

/**
 * The diff of an edit whose file nobody has looked at: where the text stands is not known, so both lines are 0.
 * Several edits are joined with line ends: a client can show what was tried.
 */
function toDiff(edits: readonly ToolArguments[]): FileDiff {
  const join = (name: string) => edits.map((edit) => toTextArgument(edit, name)).join("\n");
  return { oldString: join("old_string"), newString: join("new_string"), startLine: 0, endLine: 0 };
}
