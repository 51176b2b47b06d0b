import type { Document } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { describeDocument } from "../src/describe-document.ts";

test.each<[string, unknown, unknown, string, string]>([
  ["text", "Hello", {}, "", "Hello"],
  ["code_reference", "a\nb", { filePath: "src/a.ts", startLine: 3 }, "src/a.ts:3", "a\nb"],
  ["code_block", "a", { language: "ts" }, "ts", "a"],
  ["file_edit", null, { filePath: "a.ts", patch: "@@ -1 +1 @@" }, "a.ts", "@@ -1 +1 @@"],
  ["file_edit", null, { filePath: "a.ts" }, "a.ts", ""],
  ["tool_call", null, { toolName: "read_file", arguments: { a: 1 } }, "read_file", '{"a":1}'],
  ["terminal_command", null, { command: "ls", output: "a.txt\n" }, "$ ls", "a.txt\n"],
  ["plan", "# Do it", { title: "A plan" }, "A plan", "# Do it"],
  ["error", "It failed.", { errorCode: "TIMEOUT" }, "TIMEOUT", "It failed."],
  [
    "todo_update",
    null,
    {
      todos: [
        { id: "a", status: "pending", content: "Write" },
        { id: "b", status: "completed" },
      ],
    },
    "todo_update",
    "pending: Write\ncompleted: b",
  ],
  [
    "clarification",
    "",
    { questions: [{ id: "q", text: "Which?", options: [{ id: "o", label: "This" }] }] },
    "clarification",
    "Which?\n- This",
  ],
  ["drawing", null, { lines: 2 }, "drawing", '{"lines":2}'],
  ["drawing", "two lines", {}, "drawing", "two lines"],
])("%s with %j and %j is plain text", (type, content, metadata, title, text) => {
  const document = { id: "doc_001", sequence: 1, type, content, metadata } as unknown as Document;
  expect(describeDocument(document)).toEqual({ title, text });
});
