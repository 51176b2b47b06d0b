import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { fixCallArguments } from "../../src/tools/registry.ts";

const edit = { old_string: "a", new_string: "b" };

describe(verifies("N59", "arguments as models write them"), () => {
  test.each<[string, string, Record<string, unknown>, Record<string, unknown>]>([
    ["edits as JSON text", "edit_file", { target_file: "a", edits: JSON.stringify([edit]) }, { target_file: "a", edits: [edit] }],
    ["one edit in place of a list", "edit_file", { target_file: "a", edits: edit }, { target_file: "a", edits: [edit] }],
    ["one edit as JSON text", "edit_file", { target_file: "a", edits: [JSON.stringify(edit)] }, { target_file: "a", edits: [edit] }],
    ["an edit next to the file", "edit_file", { target_file: "a", ...edit }, { target_file: "a", edits: [edit] }],
    [
      "an edit as other agents name it",
      "edit_file",
      { filePath: "a", oldString: "a", newString: "b", replaceAll: "true" },
      { target_file: "a", edits: [{ ...edit, replace_all: true }] },
    ],
    ["an empty list and an edit next to it", "edit_file", { path: "a", edits: [], ...edit }, { target_file: "a", edits: [edit] }],
    ["another name and numbers as text", "read_file", { file_path: "a", offset: "3" }, { target_file: "a", offset: 3 }],
    ["null and another name", "read_file", { path: "a", target_file: null }, { target_file: "a" }],
    ["a folder", "list_dir", { path: "src" }, { target_directory: "src" }],
    ["todos as JSON text", "todo_write", { todos: '[{"id":"a","status":"pending"}]' }, { todos: [{ id: "a", status: "pending" }] }],
  ])("%s", (_, toolName, given, expected) => {
    expect(fixCallArguments(toolName, given)).toEqual(expected);
  }); // prettier-ignore

  test.each<[string, string, Record<string, unknown>]>([
    ["what is right", "edit_file", { target_file: "a", edits: [edit] }],
    ["a file and another field that could name it", "read_file", { target_file: "a", path: "b" }],
    ["a name that the tool has itself", "grep_search", { pattern: "x", path: "src" }],
    ["text where text is wanted", "write_file", { target_file: "a.json", content: '{"a": [1]}' }],
    ["text that is no JSON", "edit_file", { target_file: "a", edits: "[{" }],
    ["half an edit", "edit_file", { target_file: "a", old_string: "a" }],
    ["JSON that the schema does not take", "edit_file", { target_file: "a", edits: '[{"old": 1}]' }],
    ["tools of servers", "mcp__x__y", { path: "a", edits: "[]" }],
  ])("stay: %s", (_, toolName, given) => {
    expect(fixCallArguments(toolName, given)).toEqual(given);
  });

  test(verifies("S-71", "prototype keys and deep texts are harmless"), () => {
    const args = JSON.parse('{"__proto__": {"target_file": "x"}, "constructor": 1, "edits": ""}') as Record<
      string,
      unknown
    >;
    args.edits = "[".repeat(100_000) + "]".repeat(100_000);
    const fixed = fixCallArguments("edit_file", args);
    expect(fixed.target_file).toBeUndefined();
    expect(fixed.edits).toBe(args.edits);
  });
});
