/** The todo list of a conversation: plans replace it, updates change it by id (N40, N41). */
import type { Document } from "@sheaf/protocol";
import { readObjects, readText, readTexts } from "../views/metadata.ts";
import type { ForeignMetadata, ShownDocument } from "../views/view.ts";

export type TodoState = "pending" | "in_progress" | "completed" | "cancelled";

export interface Todo {
  readonly id: string;
  readonly content: string;
  readonly status: TodoState;
  readonly dependencies: readonly string[];
}

const states = new Set<string>(["pending", "in_progress", "completed", "cancelled"]);

/** Reads the todos of a plan or an update, as far as they exist yet. */
export function readTodos(metadata: ForeignMetadata): Todo[] {
  return readObjects(metadata, "todos").flatMap((todo) => {
    const id = readText(todo, "id");
    const status = readText(todo, "status");
    if (id === "") return [];
    return {
      id,
      content: readText(todo, "content"),
      status: states.has(status) ? (status as TodoState) : "pending",
      dependencies: readTexts(todo, "dependencies"),
    };
  });
}

function isAboutTodos({ type }: ShownDocument): boolean {
  return type === "plan" || type === "todo_update";
}

/** Returns the list after all these documents of a conversation, in order. */
export function foldTodos(documents: readonly ShownDocument[]): readonly Todo[] {
  let todos = new Map<string, Todo>();
  for (const { type, metadata } of documents) {
    const changes = readTodos(metadata);
    if (type === "plan" && changes.length > 0) todos = new Map(changes.map((todo) => [todo.id, todo]));
    if (type !== "todo_update") continue;
    for (const change of changes) {
      const before = todos.get(change.id);
      todos.set(change.id, {
        id: change.id,
        content: change.content === "" ? (before?.content ?? change.id) : change.content,
        status: change.status,
        dependencies: change.dependencies.length > 0 ? change.dependencies : (before?.dependencies ?? []),
      });
    }
  }
  return [...todos.values()];
}

/** Returns the progress of a list, without its cancelled todos. */
export function toProgress(todos: readonly Todo[]): { readonly done: number; readonly all: number } {
  const counted = todos.filter(({ status }) => status !== "cancelled");
  return { done: counted.filter(({ status }) => status === "completed").length, all: counted.length };
}

/** Creates a reader of a growing conversation's todos. It returns the same array until a plan or an update changes. */
export function createTodoReader() {
  let before: readonly ShownDocument[] = [];
  let todos: readonly Todo[] = [];
  return (turns: readonly { readonly response: { readonly documents: readonly Document[] } }[]): readonly Todo[] => {
    const documents = turns.flatMap(({ response }) => response.documents.filter(isAboutTodos));
    const isSame = documents.length === before.length && documents.every((one, index) => one === before[index]);
    if (!isSame) todos = foldTodos(documents);
    before = documents;
    return todos;
  };
}
