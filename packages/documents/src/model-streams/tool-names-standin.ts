import type { ToolDocumentType } from "@sheaf/protocol";
export function toDocumentType(name: string): ToolDocumentType {
  return name === "edit_file" ? "file_edit" : "tool_call";
}
