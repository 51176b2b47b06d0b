import type { Document } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { toAnswerText } from "../../src/conversation/answer-text.ts";

const documents = [
  { type: "text", content: "Hello", metadata: { format: "markdown" } },
  { type: "code_block", content: "a ``` b", metadata: { language: "md" } },
  { type: "code_reference", content: "x = 1", metadata: { filePath: "a.py", startLine: 3, endLine: 3 } },
  {
    type: "file_edit",
    content: "new",
    metadata: { operation: "edit", filePath: "a.py", patch: "@@ -1 +1 @@\n-old\n+new\n" },
  },
  { type: "file_edit", content: null, metadata: { operation: "rename", filePath: "a.py", newFilePath: "b.py" } },
  { type: "terminal_command", content: null, metadata: { command: "ls", output: "a\nb\n" } },
  { type: "tool_call", content: null, metadata: { toolName: "read_file", arguments: { target_file: "a" } } },
  { type: "plan", content: "Steps", metadata: { title: "T", todos: [{ id: "a", content: "A", status: "completed" }] } },
  { type: "error", content: "broke", metadata: { errorCode: "NETWORK" } },
  { type: "_unknown", content: "something", metadata: {} },
];

test("an answer as Markdown has what it says, not what it did", () => {
  expect(toAnswerText(documents as unknown as readonly Document[])).toBe(`Hello

\`\`\`\`md
a \`\`\` b
\`\`\`\`

\`\`\`3:3:a.py
x = 1
\`\`\`

## T

Steps

- [x] A`);
});

test("a sentence that a call interrupts stays one sentence", () => {
  const call = { type: "tool_call", content: null, metadata: { toolName: "read_file", arguments: {} } };
  const parts = [
    { type: "text", content: "I will read it", metadata: {} },
    call,
    { type: "text", content: " and answer.", metadata: {} },
    call,
    { type: "text", content: "It is a list.", metadata: {} },
  ];
  expect(toAnswerText(parts as unknown as readonly Document[])).toBe("I will read it and answer.\n\nIt is a list.");
});
