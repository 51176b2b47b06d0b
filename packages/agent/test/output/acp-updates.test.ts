/** A run as updates of the Agent Client Protocol. */
import type { RunEnd, RunEventBody } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import { createAcpProjection, toStopReason } from "../../src/output/acp-updates.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { runStart, toCall, toDelta, toLog, toTexts } from "./log.ts";

const push = (bodies: readonly RunEventBody[], options?: { readonly withPrompt: boolean }) => {
  const projection = createAcpProjection(options);
  return toLog(runStart, ...bodies).flatMap((event) => [...projection.push(event)]);
};
const textOf = (update: unknown): string => JSON.stringify(update);

describe("updates", () => {
  test(verifies("X17", "text, reasoning and, of an old session, the prompt"), () => {
    expect(push([...toTexts("Hi"), { type: "reasoning_delta", text: "hm" }], { withPrompt: true })).toEqual([
      { sessionUpdate: "user_message_chunk", content: { type: "text", text: "do it" } },
      { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "Hi" } },
      { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "hm" } },
    ]);
    expect(push([])).toEqual([]);
  });

  test.each([
    ["read_file", { target_file: "a.ts", offset: 7 }, "read", "read_file a.ts", [{ path: "/w/a.ts", line: 7 }]],
    ["edit_file", { target_file: "/x/b.ts" }, "edit", "edit_file /x/b.ts", [{ path: "/x/b.ts" }]],
    ["run_terminal_cmd", { command: "npm\n test" }, "execute", "`npm test`", []],
    ["grep_search", { pattern: "x" }, "search", "grep_search x", []],
    ["mcp__a__b", { target_file: "", offset: -1 }, "other", "mcp__a__b", []],
    ["constructor", {}, "other", "constructor", []],
  ])(verifies("X17", "a call of %s %j"), (toolName, args, kind, title, locations) => {
    const [started, described, ended] = push(toCall("call_1", toolName, args, { output: "out" }));
    expect(started).toMatchObject({ sessionUpdate: "tool_call", toolCallId: "call_1", kind, status: "pending" });
    expect(described).toMatchObject({ title, locations, status: "in_progress", rawInput: args });
    expect(ended).toMatchObject({ status: "completed", rawOutput: { output: "out" } });
  });

  test("output that is written comes whole each time, and bounded", () => {
    const updates = push([
      { type: "tool_call_start", callId: "call_1", toolName: "run_terminal_cmd", documentType: "terminal_command" },
      ...["a", "b", "x".repeat(70_000)].map(toDelta),
    ]).slice(1);
    expect(textOf(updates[1])).toContain('"ab"');
    expect(textOf(updates[2]).length).toBeLessThan(66_000);
    expect(textOf(updates[2])).toContain("…x");
  });

  test("a failure says what failed", () => {
    const error = { code: "FILE_NOT_FOUND", message: "a.ts is not there", details: "" } as const;
    const ended = push(toCall("call_1", "read_file", {}, { status: "error", error })).at(-1);
    expect(ended).toMatchObject({ status: "failed", rawOutput: { status: "error", error } });
    expect(textOf(ended)).toContain("a.ts is not there");
  });

  test("a change of files is a diff; other changes are described", () => {
    const base = { filePath: "a", linesAdded: 1, linesRemoved: 1, bytes: 2 };
    const ended = push(
      toCall(
        "call_1",
        "edit_file",
        {},
        {
          effect: {
            kind: "file_edit",
            changes: [
              { ...base, path: "/w/a", operation: "create", content: "new" },
              { ...base, path: "/w/b", operation: "edit", content: null, diff: { oldString: "o", newString: "n" } },
              { ...base, path: "/w/c", operation: "rename", content: null, newFilePath: "d" },
            ] as never,
          },
        },
      ),
    ).at(-1);
    expect(ended).toMatchObject({
      content: [
        { type: "diff", path: "/w/a", oldText: null, newText: "new" },
        { type: "diff", path: "/w/b", oldText: "o", newText: "n" },
        { type: "content", content: { text: "rename /w/c to d" } },
      ],
    });
  });

  test(verifies("X17", "an edit is shown with whole lines, place by place"), () => {
    const patch =
      "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n@@ -9,1 +9,2 @@\n nine\n+ten\n\\ No newline at end of file\n";
    const change = {
      filePath: "a",
      path: "/w/a",
      operation: "edit",
      content: null,
      linesAdded: 2,
      linesRemoved: 1,
      bytes: 9,
      patch,
    };
    const effect = { kind: "file_edit", changes: [change] } as never;
    expect(push(toCall("call_1", "edit_file", {}, { effect })).at(-1)).toMatchObject({
      locations: [
        { path: "/w/a", line: 1 },
        { path: "/w/a", line: 9 },
      ],
      content: [
        { type: "diff", path: "/w/a", oldText: "one\ntwo\n", newText: "one\n2\n" },
        { type: "diff", path: "/w/a", oldText: "nine\n", newText: "nine\nten\n" },
      ],
    });
  });

  test("a plan has its entries, without those that were cancelled", () => {
    const todos = [
      { id: "a", content: "Write", status: "in_progress" },
      { id: "b", content: "Drop", status: "cancelled" },
    ];
    const updates = push(toCall("call_1", "todo_write", {}, { effect: { kind: "todo", todos } as never }));
    expect(updates.at(-1)).toEqual({
      sessionUpdate: "plan",
      entries: [{ content: "Write", priority: "medium", status: "in_progress" }],
    });
  });

  test(verifies("N42", "a question is text, which the next prompt answers"), () => {
    const questions = [{ id: "q", text: "Which?", options: [{ id: "a", label: "A" }] }];
    const effect = { kind: "question", title: "Choose", questions } as never;
    const update = push(toCall("call_1", "ask_question", {}, { effect })).at(-1);
    expect(update).toEqual({
      sessionUpdate: "agent_message_chunk",
      content: { type: "text", text: "\n\nChoose\n\nWhich?\n- a: A\n" },
    });
  });
});

describe("the end", () => {
  test.each([
    ["end_turn", undefined, "end_turn"],
    ["clarification", undefined, "end_turn"],
    ["error", "CANCELLED", "cancelled"],
    ["error", "MAX_TOKENS", "max_tokens"],
    ["error", "BUDGET_TOKENS", "max_tokens"],
    ["error", "BUDGET_TURNS", "max_turn_requests"],
    ["error", "BUDGET_TOOLS", "max_turn_requests"],
    ["error", "REFUSED", "refusal"],
    ["error", "RATE_LIMITED", undefined],
  ])("%s %s", (reason, code, expected) => {
    const end = { type: "run_end", reason, ...(code && { error: { code } }) } as unknown as RunEnd;
    expect(toStopReason(end)).toBe(expected);
  });
});
