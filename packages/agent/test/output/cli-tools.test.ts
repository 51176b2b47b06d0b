/** Calls of tools, and what they gave, in the shapes of the command line (C9). */
import type { ToolResult } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import { toCliOutcome } from "../../src/output/cli-outcome.ts";
import { describeTool } from "../../src/tools/registry.ts";
import { toCliTodoStatus } from "../../src/tools/todo-write.ts";
import { endedEffect } from "../tools/ended-command.ts";
import { verifies } from "../../../../test/support/verifies.ts";

describe("arguments", () => {
  test.each([
    ["read_file", { target_file: "a", offset: 2, limit: 1.5 }, "readToolCall", { path: "a", offset: 2 }],
    ["read_file", { target_file: { a: 1 }, offset: "3" }, "readToolCall", { path: '{"a":1}' }],
    ["write_file", { target_file: "a", content: "x" }, "writeToolCall", { path: "a", fileText: "x", toolCallId: "c" }],
    [
      "edit_file",
      { target_file: "a", edits: [{ old_string: "o", new_string: "n", replace_all: true }] },
      "editToolCall",
      { path: "a", strReplace: { oldText: "o", newText: "n", replaceAll: true } },
    ],
    [
      "edit_file",
      { target_file: "a", edits: [{ old_string: "1" }, { old_string: "2" }] },
      "editToolCall",
      {
        path: "a",
        multiStrReplace: {
          edits: [
            { oldText: "1", newText: "" },
            { oldText: "2", newText: "" },
          ],
        },
      },
    ],
    ["delete_file", { target_file: "a" }, "deleteToolCall", { path: "a" }],
    [
      "run_terminal_cmd",
      { command: "ls", is_background: true, description: 7 },
      "shellToolCall",
      { command: "ls", workingDirectory: "", timeout: 0, toolCallId: "c", isBackground: true },
    ],
    ["grep_search", { pattern: "x", case_insensitive: "yes", bad: 1 }, "grepToolCall", { pattern: "x" }],
    ["grep_search", { pattern: "x", case_insensitive: true }, "grepToolCall", { pattern: "x", caseInsensitive: true }],
    ["glob_search", { pattern: "*" }, "globToolCall", { globPattern: "*" }],
    [
      "glob_search",
      { pattern: "*", target_directory: "src" },
      "globToolCall",
      { globPattern: "*", targetDirectory: "src" },
    ],
    ["list_dir", {}, "lsToolCall", { path: "" }],
    ["list_dir", { target_directory: "src" }, "lsToolCall", { path: "src" }],
    [
      "todo_write",
      { merge: true, todos: [{ id: "a", content: { no: "text" }, status: "in_progress" }, "wrong"] },
      "updateTodosToolCall",
      { merge: true, todos: [{ id: "a", content: '{"no":"text"}', status: "TODO_STATUS_IN_PROGRESS" }] },
    ],
    ["create_plan", { plan: "p" }, "createPlanToolCall", { plan: "p", toolCallId: "c" }],
    ["ask_question", { title: "t", questions: "none" }, "askQuestionToolCall", { title: "t", questions: [] }],
    ["web_fetch", { url: "u" }, "webFetchToolCall", { url: "u", toolCallId: "c" }],
  ])(verifies("C9", "%s %j"), (toolName, args, key, expected) => {
    expect(describeTool(toolName)?.toCursor?.(args, "c")).toEqual({ [key]: expected });
  });

  test(verifies("C9", "a tool without its own shape has none here"), () => {
    expect(describeTool("toString")).toBeUndefined();
    expect(toCliTodoStatus(undefined)).toBe("TODO_STATUS_PENDING");
  });
});

describe("outcomes", () => {
  const result = (fields: Partial<ToolResult>): ToolResult => ({
    type: "tool_result",
    callId: "c",
    status: "success",
    output: "out",
    durationMs: 3,
    ...fields,
  });
  const error = { code: "X", message: "why", details: "" } as never;
  const command = (fields: object): Partial<ToolResult> => ({
    effect: { ...endedEffect, command: "ls", stdout: "a", stderr: "b", ...fields },
  });
  const change = (fields: object): Partial<ToolResult> => ({
    effect: {
      kind: "file_edit",
      changes: [{ path: "/w/a", filePath: "a", content: null, linesAdded: 2, linesRemoved: 1, bytes: 9, ...fields }],
    } as never,
  });
  const found = { totalFiles: 1, truncated: false };
  const todo = { id: "a", content: "c", dependencies: [] };
  const shell = { command: "ls", workingDirectory: "/w", signal: "", stdout: "a", stderr: "b", executionTime: 3 };

  test.each([
    ["any", { status: "rejected", error }, { rejected: { reason: "why" } }],
    ["any", { status: "error", error }, { error: { errorMessage: "why" } }],
    ["any", { status: "cancelled", error }, { error: { errorMessage: "why" } }],
    ["any", {}, { success: { output: "out" } }],
    ["any", { note: "cut" }, { success: { output: "out", note: "cut" } }],
    ["run_terminal_cmd", command({}), { success: { ...shell, exitCode: 0, interleavedOutput: "out" } }],
    ["run_terminal_cmd", command({ exitCode: 2 }), { failure: { ...shell, exitCode: 2 } }],
    ["run_terminal_cmd", command({ exitCode: 143, timedOut: true }), { timeout: { ...shell, exitCode: 143 } }],
    [
      "edit_file",
      change({ operation: "edit", patch: "@@", after: "x" }),
      {
        success: {
          path: "/w/a",
          linesAdded: 2,
          linesRemoved: 1,
          diffString: "@@",
          afterFullFileContent: "x",
          message: "out",
        },
      },
    ],
    ["write_file", change({ operation: "create" }), { success: { path: "/w/a", linesCreated: 2, fileSize: 9 } }],
    ["write_file", change({ operation: "edit", after: "a\nb\nc" }), { success: { linesCreated: 3 } }],
    ["write_file", change({ operation: "edit", after: "" }), { success: { linesCreated: 0 } }],
    ["delete_file", change({ operation: "delete" }), { success: { path: "/w/a", fileSize: 9 } }],
    ["rename_file", change({ operation: "rename", newFilePath: "b" }), { success: { newPath: "b" } }],
    ["list_dir", { effect: { kind: "list" } as never }, { success: { tree: "out" } }],
    [
      "grep_search",
      { effect: { kind: "search", matches: [], totalMatches: 0, ...found } },
      { success: { matches: [], totalMatches: 0, ...found } },
    ],
    ["glob_search", { effect: { kind: "glob", files: ["a"], ...found } }, { success: { files: ["a"], ...found } }],
    [
      "todo_write",
      { effect: { kind: "todo", todos: [{ ...todo, status: "in_progress" }], changes: [] } },
      { success: { todos: [{ ...todo, status: "TODO_STATUS_IN_PROGRESS" }], totalCount: 1 } },
    ],
    ["create_plan", { effect: { kind: "plan" } as never }, { success: {} }],
    ["web_fetch", { effect: { kind: "web", url: "u" } as never }, { success: { url: "u", markdown: "out" } }],
    [
      "mcp__a__b",
      { status: "error", error, effect: { kind: "mcp", content: [], isError: true } as never },
      { success: { content: [], isError: true } },
    ],
  ] satisfies readonly (readonly [string, Partial<ToolResult>, object])[])(
    verifies("C9", "%s %j has one key"),
    (toolName, fields, expected) => {
      const outcome = toCliOutcome(toolName, result(fields));
      expect(outcome).toMatchObject(expected);
      expect(Object.keys(outcome)).toHaveLength(1);
    },
  );
});
