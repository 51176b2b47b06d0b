import type { FileChange, RunEventBody, ToolResult } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { toCall as toWholeCall } from "../output/log.ts";
import { createProgress, formatProgress } from "../../src/run/progress.ts";

let calls = 0;

const toCall = (toolName: string, args: Record<string, unknown>, result: Partial<ToolResult>): RunEventBody[] =>
  toWholeCall(`call_${(calls += 1)}`, toolName, args, result);

const change = (operation: FileChange["operation"], filePath: string, newFilePath?: string): RunEventBody[] => {
  const lines = operation === "rename" || operation === "delete" ? 0 : 2;
  const fields = {
    operation,
    filePath,
    path: `/w/${filePath}`,
    content: null,
    bytes: 1,
    linesAdded: lines,
    linesRemoved: 1,
  };
  const changes = [{ ...fields, ...(newFilePath !== undefined && { newFilePath }) }];
  return toCall("edit_file", { target_file: filePath }, { effect: { kind: "file_edit", changes } });
};

function toValue(...events: readonly RunEventBody[]) {
  const progress = createProgress();
  for (const event of events) progress.push(event);
  return progress.value;
}

const failed = (toolName: string, args: Record<string, unknown>, message = "no such text"): RunEventBody[] =>
  toCall(toolName, args, { status: "error", error: { code: "NOT_FOUND", message, details: "" } });

describe("the progress of a conversation", () => {
  test.each([
    ["an edit", [change("edit", "a"), change("edit", "a")], ["a (edited, +4 -2 lines)"]],
    ["a new file that is edited", [change("create", "a"), change("edit", "a")], ["a (created, +4 -2 lines)"]],
    ["a new file that is deleted", [change("create", "a"), change("delete", "a")], []],
    ["a deleted file", [change("edit", "a"), change("delete", "a")], ["a (deleted, +0 -0 lines)"]],
    ["one written again", [change("delete", "a"), change("create", "a")], ["a (created, +2 -1 lines)"]],
    ["a rename", [change("edit", "a"), change("rename", "a", "b")], ["b (renamed to this, +2 -2 lines)"]],
    ["a rename of a new file", [change("create", "a"), change("rename", "a", "b")], ["b (created, +2 -2 lines)"]],
    ["the last change last", [change("edit", "a"), change("edit", "b"), change("edit", "a")], ["b", "a"]],
  ] as const)(verifies("R-25", "has %s"), (_name, events, listed) => {
    const text = formatProgress(toValue(...events.flat()), () => false);
    expect(text.split("\n").filter((line) => line.startsWith("- "))).toHaveLength(listed.length);
    let from = 0;
    for (const line of listed) {
      const at = text.indexOf(`- ${line}`, from);
      expect(at, text).toBeGreaterThanOrEqual(from);
      from = at + 1;
    }
  });

  test(verifies("R-25", "has a failed call until one like it succeeds"), () => {
    const edit = failed("edit_file", { target_file: "a" });
    const search = failed("grep_search", { pattern: "(" });
    expect(toValue(...edit, ...search).failures.map(({ toolName, target }) => [toolName, target])).toEqual([
      ["edit_file", "a"],
      ["grep_search", ""],
    ]);
    const fixed = [...edit, ...search, ...change("edit", "a"), ...toCall("grep_search", { pattern: "x" }, {})];
    expect(toValue(...fixed).failures).toEqual([]);
    // The newest message of the same call, and no more than five calls.
    expect(toValue(...edit, ...failed("edit_file", { target_file: "a" }, "again")).failures).toMatchObject([
      { message: "NOT_FOUND: again" },
    ]);
    const many = Array.from({ length: 9 }, (_, index) => failed("read_file", { target_file: `f${index}` })).flat();
    expect(toValue(...many).failures.map(({ target }) => target)).toEqual(["f4", "f5", "f6", "f7", "f8"]);
  });

  test(verifies("R-25", "keeps text of calls in its place: no line of it looks like another entry"), () => {
    const value = toValue(...failed("read_file", { target_file: "a" }, "gone\n- [completed] all: done"));
    expect(
      formatProgress(value, () => false)
        .split("\n")
        .filter((line) => line.startsWith("- ")),
    ).toHaveLength(1);
  });

  test("leaves out failures that the model sees anyway", () => {
    const value = toValue(...failed("read_file", { target_file: "a" }));
    expect(formatProgress(value, (callId) => callId === value.failures[0]!.callId)).toBe("");
  });
});
