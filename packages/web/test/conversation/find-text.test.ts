import { expect, test } from "vitest";
import { createRowFinder } from "../../src/conversation/find-text.ts";
import type { Row } from "../../src/conversation/rows.ts";

const toRow = (type: string, content: string | null, metadata: Record<string, unknown> = {}): Row => ({
  kind: "document",
  key: `chat_1/${type}`,
  document: { id: type, type, sequence: 1, content, metadata },
  responseId: "chat_1",
  isCurrent: true,
});
const inside = toRow("inside", "the report");
const rows: readonly Row[] = [
  {
    kind: "message",
    key: "0/message",
    message: "Why (a+b)?",
    attachments: undefined,
    versions: undefined,
    responseId: "",
    created: "",
    isSettled: true,
  },
  toRow("text", "A **bold** word\nin `my_code`"),
  toRow("terminal_command", null, { command: "seq 3", output: "one\ntwo", toolCallId: "call_two" }),
  toRow("tool_call", null, { arguments: { path: ["src/a.ts"] }, result: { data: "İstanbul" } }),
  { ...toRow("agent", null), parts: [inside] } as Row,
];

test("a row of marks is searched at once", () => {
  const marks = [toRow("text", `${"*".repeat(59)}!${"x".repeat(100)}`)];
  expect(createRowFinder()(marks, "*".repeat(60))).toEqual([]);
  expect(createRowFinder()(marks, `${"*".repeat(59)}!`)).toEqual(marks);
});

test.each([
  ["", []],
  ["  ", []],
  ["WHY", ["message"]],
  ["(a+b)?", ["message"]],
  ["bold word in", ["text"]],
  ["my_code", ["text"]],
  ["two", ["terminal_command"]],
  ["call_two", []],
  ["src/a", ["tool_call"]],
  ["İstanbul", ["tool_call"]],
  ["the report", ["agent"]],
  [".*", []],
])("%j is found in %j", (query, types) => {
  const found = createRowFinder()(rows, query);
  expect(found.map((row) => row.key.replace(/^.*\//, ""))).toEqual(types);
});
