import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { assemble } from "../src/assembler.ts";
import { endTurn, toCall, toDocuments, toResult, toRunLog, toTurn } from "./run-log.ts";

const call = toCall(
  "call_1",
  "todo_write",
  { todos: [{ id: "a", content: "A", status: "completed" }], merge: true },
  { size: 5 },
);
const origin = { toolName: "todo_write", toolCallId: "call_1" };

test(verifies(["R13", "N41", "N44"], "comes with the result and tells what has changed"), () => {
  const changes = [
    { id: "a", status: "completed" as const },
    { id: "b", status: "pending" as const, content: "New", dependencies: ["a"], position: 1 },
  ];
  const result = toResult("call_1", { effect: { kind: "todo", changes, todos: [] } });
  const events = assemble(toRunLog([...toTurn(1, call), result, endTurn]));
  expect(events.slice(1, -1).map(({ event, data }) => ({ event, data }))).toEqual([
    { event: "document_start", data: { id: "doc_001", type: "todo_update", sequence: 1, metadata: origin } },
    { event: "document_end", data: { documentId: "doc_001", metadata: { todos: changes, ...origin } } },
  ]);
});

test(verifies("N39", "a failed update changes nothing, and an error document follows"), () => {
  const documents = toDocuments([...call, toResult("call_1", { status: "error" })]);
  expect(documents[0]).toMatchObject({ type: "todo_update", content: null, metadata: { todos: [] } });
  expect(documents[1]).toMatchObject({ type: "error", metadata: { source: "todo_write" } });
});
