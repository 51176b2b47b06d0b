import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { toDocumentType, toFileOperation } from "../src/tool-names.ts";

test.each([
  ["edit_file", "file_edit"],
  ["write_file", "file_edit"],
  ["delete_file", "file_edit"],
  ["rename_file", "file_edit"],
  ["run_terminal_cmd", "terminal_command"],
  ["create_plan", "plan"],
  ["todo_write", "todo_update"],
  ["ask_question", "clarification"],
  ["read_file", "tool_call"],
  ["codebase_search", "tool_call"],
  ["mcp__github__create_issue", "tool_call"],
  ["constructor", "tool_call"],
  ["", "tool_call"],
])(verifies(["R17", "N28"], "%s becomes %s"), (toolName, type) => {
  expect(toDocumentType(toolName)).toBe(type);
});

test(verifies(["R7", "N28"], "file tools tell their operation by name"), () => {
  expect(["edit_file", "write_file", "delete_file", "rename_file", "read_file"].map(toFileOperation)).toEqual([
    "edit",
    "create",
    "delete",
    "rename",
    undefined,
  ]);
});
