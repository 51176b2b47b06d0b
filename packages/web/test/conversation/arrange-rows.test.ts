import type { Document, HookReport } from "@sheaf/protocol";
import { expect, test } from "vitest";
import {
  type ArrangedRow,
  createRowArranger,
  type DocumentRowData,
  findShownId,
} from "../../src/conversation/arrange-rows.ts";

function toRow(sequence: number, metadata: object = {}, type = "tool_call"): DocumentRowData {
  const id = `doc_00${sequence}`;
  const document = { id, type, sequence, content: null, metadata: { ...metadata } };
  return { kind: "document", key: `chat_1/${id}`, document, responseId: "chat_1", isCurrent: true };
}

function toHook(did: Partial<HookReport>): HookReport {
  return { event: "PreToolUse", origin: "user", status: "success", exitCode: 0, after: 0, ...did };
}

/** `3[4 h]`: inside the row of document 3 are document 4 and a hook. */
function describeRow(row: ArrangedRow): string {
  if (row.kind === "hook") return "h";
  const parts = row.parts === undefined ? "" : `[${row.parts.map(describeRow).join(" ")}]`;
  return `${row.document.sequence}${parts}`;
}

const arrangeOnce = (rows: readonly DocumentRowData[], hooks: readonly HookReport[] = []): string =>
  createRowArranger()(rows, hooks, "chat_1").map(describeRow).join(" ");

const agent = (callId: string) => ({ toolName: "run_agent", toolCallId: callId });
const inside = (callId: string) => ({ agent: { id: callId, name: "search" } });

test("calls of subagents are inside their rows, several at once too", () => {
  const rows = [toRow(1, agent("a")), toRow(2, agent("b")), toRow(3, inside("b")), toRow(4, inside("a")), toRow(5)];
  expect(arrangeOnce(rows)).toBe("1[4] 2[3] 5");
  // Of an unknown call, and without subagents, everything stays where it is.
  expect(arrangeOnce([toRow(1), toRow(2, inside("x"))])).toBe("1 2");
  const plain = [toRow(1)];
  expect(createRowArranger()(plain, [], "chat_1")).toBe(plain);
});

test("hooks follow their call, or what had begun; the error of a refused call is theirs", () => {
  const error = { errorCode: "PERMISSION_DENIED", relatedDocumentId: "doc_001" };
  const rows = [toRow(1), toRow(2), toRow(3, error, "error"), toRow(4)];
  const refusal = toHook({ decision: "block", documentId: "doc_001", after: 2 });
  const hooks = [toHook({ event: "UserPromptSubmit" }), refusal, toHook({ event: "Stop", after: 4 })];
  expect(arrangeOnce(rows, hooks)).toBe("h 1 h 2 4 h");
  expect(arrangeOnce(rows, [toHook({ documentId: "doc_001", after: 2 })])).toBe("1 h 2 3 4");
  expect(arrangeOnce([toRow(1, agent("a")), toRow(2, inside("a"))], [toHook({ documentId: "doc_002" })])).toBe(
    "1[2 h]",
  );
});

test("a stop is shown once, without an error for each call that waited", () => {
  const stop = { errorCode: "CANCELLED", source: "user" };
  const rows = [toRow(1), toRow(2), toRow(3, { ...stop, relatedDocumentId: "doc_001" }, "error")];
  expect(arrangeOnce([...rows, toRow(4, stop, "error")])).toBe("1 2 4");
  expect(arrangeOnce([...rows, toRow(4)])).toBe("1 2 3 4");
});

test("what has not changed is the same object", () => {
  const arrange = createRowArranger();
  const rows = [toRow(1, agent("a")), toRow(2, inside("a"))];
  const hooks = [toHook({ event: "Stop", after: 2 })];
  const [before] = [arrange(rows, hooks, "chat_1")];
  const after = arrange([...rows, toRow(3, inside("a"))], hooks, "chat_1");
  expect(after[1]).toBe(before[1]);
  expect(after[0]).not.toBe(before[0]);
  expect(arrange([...rows, toRow(3)], hooks, "chat_1")[0]).not.toBe(after[0]);
});

test("a document inside a subagent is shown by the row of the subagent", () => {
  const documents = [toRow(1, agent("a")), toRow(2, inside("a"))].map(({ document }) => document);
  expect(findShownId(documents as unknown as Document[], "doc_002")).toBe("doc_001");
  expect(findShownId(documents as unknown as Document[], "doc_009")).toBe("doc_009");
});
