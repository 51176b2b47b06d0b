import type { Document } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import { createTodoReader, foldTodos, readTodos, toProgress } from "../../src/todos/fold-todos.ts";
import type { ShownDocument } from "../../src/views/view.ts";
import { verifies } from "../../../../test/support/verifies.ts";

let count = 0;
function createDocument(type: string, todos: unknown): ShownDocument {
  count += 1;
  return { id: `doc_${count}`, type, sequence: count, content: null, metadata: { todos } };
}

const plan = createDocument("plan", [
  { id: "a", content: "A", status: "pending", dependencies: [] },
  { id: "b", content: "B", status: "pending", dependencies: ["a"] },
]);

describe("the todo list", () => {
  test(verifies("N41", "an update changes by id and adds what is new"), () => {
    const update = createDocument("todo_update", [
      { id: "a", status: "completed" },
      { id: "c", status: "in_progress", content: "C" },
    ]);
    expect(foldTodos([plan, update])).toEqual([
      { id: "a", content: "A", status: "completed", dependencies: [] },
      { id: "b", content: "B", status: "pending", dependencies: ["a"] },
      { id: "c", content: "C", status: "in_progress", dependencies: [] },
    ]);
  });

  test(verifies("N40", "a newer plan replaces the older one"), () => {
    const newer = createDocument("plan", [{ id: "x", content: "X", status: "pending", dependencies: [] }]);
    expect(foldTodos([plan, newer]).map(({ id }) => id)).toEqual(["x"]);
  });

  test("what is cancelled does not count", () => {
    const update = createDocument("todo_update", [
      { id: "a", status: "cancelled" },
      { id: "b", status: "completed" },
    ]);
    expect(toProgress(foldTodos([plan, update]))).toEqual({ done: 1, all: 1 });
  });

  test.each([[undefined], [null], ["x"], [[null, 1, "x", [], {}]], [{ length: 5 }], [[{ id: 7 }]]])(
    "todos %j are none",
    (todos) => {
      expect(readTodos({ todos })).toEqual([]);
    },
  );

  test("an unknown status is open", () => {
    expect(readTodos({ todos: [{ id: "a", status: "__proto__" }] })).toMatchObject([{ status: "pending" }]);
  });
});

test("the reader returns the same list until something about todos changes", () => {
  const readAll = createTodoReader();
  const text = (sequence: number): Document =>
    ({ id: `t${sequence}`, type: "text", sequence, content: "", metadata: {} }) as unknown as Document;
  const todo = (sequence: number, status: string): Document =>
    ({
      id: `u${sequence}`,
      type: "todo_update",
      sequence,
      content: null,
      metadata: { todos: [{ id: "a", status, content: "A" }] },
    }) as unknown as Document;
  const read = (...documents: Document[]) => readAll([{ response: { documents } }]);
  const first = todo(2, "pending");
  const before = read(text(1), first);
  expect(before).toMatchObject([{ status: "pending" }]);
  expect(read(text(1), first, text(3))).toBe(before);
  expect(read(text(1), first, text(3), todo(4, "completed"))).toMatchObject([{ status: "completed" }]);
  expect(read(text(1))).toEqual([]);
});
