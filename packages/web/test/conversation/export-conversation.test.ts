import type { ChatResponse } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import { toFileName, toJsonExport, toMarkdownExport } from "../../src/conversation/export-conversation.ts";

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
const response = { documents } as unknown as ChatResponse;

describe("exports", () => {
  test("Markdown that a person can read", () => {
    expect(toMarkdownExport("A title", [{ message: "Do\nit", response }])).toBe(`# A title

> Do
> it

Hello

\`\`\`\`md
a \`\`\` b
\`\`\`\`

\`\`\`3:3:a.py
x = 1
\`\`\`

**edit** \`a.py\`

\`\`\`diff
@@ -1 +1 @@
-old
+new
\`\`\`

**rename** \`a.py → b.py\`

\`\`\`console
$ ls
a
b
\`\`\`

**read_file** \`{"target_file":"a"}\`

## T

Steps

- [x] A

**NETWORK**: broke

something
`);
  });

  test("JSON with everything", () => {
    const turns = [{ message: "Do it", response }];
    expect(JSON.parse(toJsonExport("conv_1", "T", turns))).toEqual(
      JSON.parse(JSON.stringify({ id: "conv_1", title: "T", turns })),
    );
  });
});

test.each([
  ["Was ist zu tun?", "Was-ist-zu-tun.md"],
  ["../../etc/passwd", "etc-passwd.md"],
  ["漢字 テスト", "漢字-テスト.md"],
  ['\u202E<>:"|?*', "conversation.md"],
])("%j is saved as %s", (title, name) => {
  expect(toFileName(title, "md")).toBe(name);
});
