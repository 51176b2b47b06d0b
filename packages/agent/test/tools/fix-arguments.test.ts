import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { describeIgnored, fixCallArguments, fixToolName, toDefinitions } from "../../src/tools/registry.ts";

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
    ["a range as first and last line", "read_file", { path: "a", start_line: 11, end_line: 20 }, { target_file: "a", offset: 11, limit: 10 }],
    ["a range as a list", "read_file", { path: "a", view_range: [2, 3] }, { target_file: "a", offset: 2, limit: 2 }],
    ["a last line alone", "read_file", { path: "a", endLine: 5 }, { target_file: "a", offset: 1, limit: 5 }],
    ["an offset of 0", "read_file", { path: "a", offset: 0, limit: 5 }, { target_file: "a", offset: 1, limit: 5 }],
    ["a filter of files", "grep_search", { query: "x", include: "*.ts", "-i": true }, { pattern: "x", glob: "*.ts", case_insensitive: true }],
    ["a shell and its script", "run_terminal_cmd", { command: ["bash", "-lc", "ls | wc -l"] }, { command: "ls | wc -l" }],
    ["the words of a command", "run_terminal_cmd", { command: ["git", "log", "--grep", "it's $1"] }, { command: String.raw`git log --grep 'it'\''s $1'` }],
    ["a timeout in milliseconds", "run_terminal_cmd", { cmd: "ls", timeout: 60_000 }, { command: "ls", timeout_ms: 60_000 }],
    ["two paths", "rename_file", { from: "a", to: "b" }, { source_file: "a", destination_file: "b" }],
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
    ["a timeout that may be in seconds", "run_terminal_cmd", { command: "ls", timeout: 60 }],
    ["a range that ends before it begins", "read_file", { target_file: "a", view_range: [5, -1] }],
  ])("stay: %s", (_, toolName, given) => {
    expect(fixCallArguments(toolName, given)).toEqual(given);
  });

  test.each<[string, string, Record<string, unknown>, string | undefined]>([
    ["nothing", "read_file", { target_file: "a", offset: null, other: null }, undefined],
    ["one, with its meaning", "run_terminal_cmd", { command: "ls", timeout: 60 }, 'Sheaf ignored arguments that run_terminal_cmd does not take: "timeout" (did you mean timeout_ms?).'],
    ["several", "grep_search", { pattern: "x", exclude: "y", "-n": true }, 'Sheaf ignored arguments that grep_search does not take: "exclude", "-n".'],
    ["one in a list", "edit_file", { target_file: "a", edits: [{ ...edit, replace_al: true }, { ...edit, replace_al: true }] }, 'Sheaf ignored arguments that edit_file does not take: "replace_al" (did you mean replace_all?).'],
    ["those of servers' tools", "mcp__x__y", { path: "a" }, undefined],
  ])("a note names ignored ones: %s", (_, toolName, args, note) => {
    expect(describeIgnored({ callId: "call_1", toolName, arguments: args })).toBe(note);
  }); // prettier-ignore

  test.each([
    ["Read", "read_file"],
    ["readFile", "read_file"],
    ["functions.read_file:0", "read_file"],
    ["functions.mcp__a__b", "mcp__a__b"],
    ["bash", "run_terminal_cmd"],
    ["run_shell_command", "run_terminal_cmd"],
    ["MultiEdit", "edit_file"],
    ["search_file_content", "grep_search"],
    ["read_file", "read_file"],
    ["launch", "launch"],
    ["todo_write", "todo_write"],
  ])("the tool %s is %s", (given, meant) => {
    const offered = toDefinitions({ mode: "agent", hasPlan: false }).map(({ name }) => name);
    expect(fixToolName(given, [...offered, "mcp__a__b"])).toBe(meant);
    expect(fixToolName(given, ["list_dir"])).toBe(given);
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
