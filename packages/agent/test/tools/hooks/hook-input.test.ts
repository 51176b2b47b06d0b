import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { verifies } from "../../../../../test/support/verifies.ts";
import {
  findPlace,
  fromToolInput,
  toHookInput,
  toMatchedNames,
  toToolInput,
} from "../../../src/tools/hooks/hook-input.ts";
import type { HookOccasion } from "../../../src/tools/hooks/hooks.ts";
import { createWorkspace } from "@sheaf/base/files/workspace";
import { createFolder } from "../search-workspace.ts";

const root = createFolder({ "a.txt": "a\n" });
const workspace = createWorkspace(root);
const place = (path: string): string => findPlace(path, workspace);
const toCall = (toolName: string, args: Record<string, unknown>) => ({ callId: "call_1", toolName, arguments: args });

test.each([
  ["run_terminal_cmd", { command: "ls", timeout_ms: 5, is_background: true, working_directory: "a" }, "Bash",
    { command: "ls", timeout: 5, run_in_background: true, working_directory: "a" }],
  ["write_file", { target_file: "x", content: "y" }, "Write", { file_path: join(root, "x"), content: "y" }],
  ["read_file", { target_file: "./a.txt", offset: 2, limit: 3 }, "Read", { file_path: join(root, "a.txt"), offset: 2, limit: 3 }],
  ["edit_file", { target_file: "a.txt", edits: [{ old_string: "a", new_string: "b", replace_all: true }] }, "Edit",
    { file_path: join(root, "a.txt"), old_string: "a", new_string: "b", replace_all: true }],
  ["glob_search", { pattern: "*", target_directory: "." }, "Glob", { pattern: "*", path: root }],
  ["grep_search", { pattern: "a", path: "a.txt", before: 1, after: 2, case_insensitive: true, max_results: 9 }, "Grep",
    { pattern: "a", path: join(root, "a.txt"), "-B": 1, "-A": 2, "-i": true, head_limit: 9 }],
  ["list_dir", { target_directory: "a" }, "LS", { path: join(root, "a") }],
  ["web_fetch", { url: "https://a.org" }, "WebFetch", { url: "https://a.org" }],
  ["mcp__files__read", { path: "a.txt" }, "mcp__files__read", { path: "a.txt" }],
  ["delete_file", { target_file: "a.txt" }, "delete_file", { target_file: "a.txt" }],
])(verifies("C82", "%s has the name and the fields of Claude Code, and back"), (toolName, args, name, input) => {
  const occasion: HookOccasion = { event: "PreToolUse", call: toCall(toolName, args) };
  const session = { sessionId: "u-1", permissionMode: "default", workspace };
  expect(toHookInput(occasion, session)).toEqual({
    session_id: "u-1",
    cwd: root,
    permission_mode: "default",
    hook_event_name: "PreToolUse",
    tool_name: name,
    tool_input: input,
    tool_use_id: "call_1",
  });
  expect(toMatchedNames(occasion)).toContain(name);
  expect(toMatchedNames(occasion)).toContain(toolName);
  const back = fromToolInput(toolName, input)!;
  expect(toToolInput(toCall(toolName, back), place)).toEqual(input);
  expect(Object.keys(back).toSorted()).toEqual(Object.keys(args).toSorted());
}); // prettier-ignore

test(verifies("C82", "several edits stay together, and match MultiEdit, too"), () => {
  const edits = [
    { old_string: "a", new_string: "b" },
    { old_string: "c", new_string: "d" },
  ];
  const call = toCall("edit_file", { target_file: "a.txt", edits });
  expect(toToolInput(call, place)).toEqual({ file_path: join(root, "a.txt"), edits });
  expect(toMatchedNames({ event: "PreToolUse", call })).toEqual(["Edit", "MultiEdit", "edit_file"]);
  expect(fromToolInput("edit_file", { file_path: "a.txt", edits })).toEqual({ target_file: "a.txt", edits });
});

test.each([
  ["write_file", { target_file: "secret", content: "x", file_path: "a.txt" }, { file_path: join(root, "secret"), content: "x" }],
  ["delete_file", { target_file: "secret", file_path: "a.txt" }, { target_file: "secret" }],
  ["glob_search", { pattern: "*", target_directory: ".", path: "elsewhere" }, { pattern: "*", path: root }],
  ["edit_file", { target_file: "secret", edits: [{ old_string: "a", new_string: "b", file_path: "a.txt" }], old_string: "c" },
    { file_path: join(root, "secret"), old_string: "a", new_string: "b" }],
])(verifies(["C82", "S-137"], "%s: a field that the tool ignores hides none from a hook"), (toolName, args, input) => {
  expect(toToolInput(toCall(toolName, args), place)).toEqual(input);
}); // prettier-ignore

test(verifies("C82", "a path is where it leads: a link hides nothing from a hook"), () => {
  writeFileSync(join(root, ".env"), "x");
  symlinkSync(".env", join(root, "harmless.txt"));
  const input = toToolInput(toCall("read_file", { target_file: "sub/../harmless.txt" }), place);
  expect(input).toEqual({ file_path: join(root, ".env") });
  expect(toToolInput(toCall("read_file", { target_file: "../out" }), place)).toEqual({
    file_path: join(root, "../out"),
  });
});
