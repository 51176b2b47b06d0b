/** Maps tools to the types of their documents. */
import type { FileOperation, ToolDocumentType } from "@sheaf/protocol";

/** Tools of the base text, and tools of the same kind (R17, N28). Tools that change files are below. */
const documentTypes: ReadonlyMap<string, ToolDocumentType> = new Map([
  ["run_terminal_cmd", "terminal_command"],
  ["create_plan", "plan"],
  ["todo_write", "todo_update"],
  ["ask_question", "clarification"],
]);

const fileOperations: ReadonlyMap<string, FileOperation> = new Map([
  ["edit_file", "edit"],
  ["write_file", "create"],
  ["delete_file", "delete"],
  ["rename_file", "rename"],
]);

/** Returns the type for a tool's canonical name; every other tool is a `tool_call` (R17, N28). */
export function toDocumentType(toolName: string): ToolDocumentType {
  return fileOperations.has(toolName) ? "file_edit" : (documentTypes.get(toolName) ?? "tool_call");
}

/** Returns the effect of a canonical tool on a file. A write is a create, unless its result is an edit (R7). */
export function toFileOperation(toolName: string): FileOperation | undefined {
  return fileOperations.get(toolName);
}
