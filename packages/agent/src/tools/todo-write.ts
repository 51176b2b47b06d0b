/** todo_write: changes the task list of the conversation (N41). */
import type { TodoChange } from "@sheaf/protocol";
import * as s from "@sheaf/protocol/schema";
import type { KnownTodo } from "./tool-state.ts";
import { toFailure } from "./failure.ts";
import type { Tool } from "./tool.ts";
import { toObjects, toArgumentText, type GivenArguments } from "./tool-traits.ts";

const parameters = s.object({
  todos: s.list(
    s.object({
      id: s.string({ minLength: 1 }),
      content: s.optional(s.string({ description: "Required for a new id" })),
      status: s.choice(["pending", "in_progress", "completed", "cancelled"]),
      dependencies: s.optional(
        s.list(s.string(), {
          minItems: 0,
          maxItems: 200,
          description: "Ids to complete first",
        }),
      ),
    }),
    { minItems: 1, maxItems: 200, description: "Entries that are new or change" },
  ),
  merge: s.boolean({ description: "true keeps entries that are not listed; false cancels them" }),
});

type Arguments = s.ValueOf<typeof parameters>;

/** Keeps the list in the conversation; the result lists the changes. */
export const todoWriteTool: Tool<Arguments> = {
  name: "todo_write",
  description:
    "Create or change the task list that the user sees. Keep exactly one task in_progress, and mark it completed as soon as it is done.",
  access: "state",
  modes: ["plan"],
  isWithheld: true,
  words: [
    "Updated todo list",
    "Aufgabenliste aktualisiert",
    "Yapılacaklar listesi güncellendi",
    "TODOリストを更新しました",
    "已更新待辦清單",
  ],
  kind: "think",
  toCursor: ({ todos, merge }) => ({
    updateTodosToolCall: { todos: toObjects(todos).map(toShownTodo), merge: merge === true },
  }),
  claude: { name: "TodoWrite" },
  parameters,
  async run({ todos, merge }, { state }) {
    const known = new Map(state.todos.map((todo) => [todo.id, todo]));
    const seen = new Set<string>();
    for (const { id, content } of todos) {
      if (seen.has(id)) return toFailure("INVALID_ARGUMENTS", `todo "${id}" is listed twice: list each id once`);
      seen.add(id);
      if (!known.has(id) && !content) {
        return toFailure("INVALID_ARGUMENTS", `todo "${id}" is new and has no content: describe its task`);
      }
    }
    const listed = new Map(todos.map((todo) => [todo.id, todo]));
    const kept = state.todos.map((todo): KnownTodo => {
      const change = listed.get(todo.id);
      if (change) return toTodo(change, todo);
      return merge ? todo : { ...todo, status: "cancelled" };
    });
    const added = todos.filter(({ id }) => !known.has(id)).map((todo) => toTodo(todo, undefined));
    const next = [...kept, ...added];
    const changes = next.flatMap((todo, position) => toChange(todo, known.get(todo.id), position));
    state.todos = next;
    const output = next.map(({ id, content, status }) => `[${status}] ${id}: ${content}`).join("\n");
    return { status: "success", output, effect: { kind: "todo", changes, todos: next } };
  },
};

function toTodo(change: Arguments["todos"][number], before: KnownTodo | undefined): KnownTodo {
  return {
    id: change.id,
    content: change.content ?? before?.content ?? "",
    status: change.status,
    dependencies: change.dependencies ?? before?.dependencies ?? [],
  };
}

/** Returns the change of an entry, or an empty list (N41: a delta by id). */
function toChange(todo: KnownTodo, before: KnownTodo | undefined, position: number): TodoChange[] {
  const { id, status, content, dependencies } = todo;
  if (!before) return [{ id, status, content, dependencies, position }];
  const isSame =
    before.status === status &&
    before.content === content &&
    JSON.stringify(before.dependencies) === JSON.stringify(dependencies);
  return isSame ? [] : [{ id, status, ...(before.content !== content && { content }) }];
}

/** Returns a status as the command line writes it, such as TODO_STATUS_IN_PROGRESS (C9). */
export function toCliTodoStatus(status: unknown): string {
  return `TODO_STATUS_${(typeof status === "string" && status !== "" ? status : "pending").toUpperCase()}`;
}

function toShownTodo({ id, content, status, dependencies }: GivenArguments): Record<string, unknown> {
  return {
    id: toArgumentText(id),
    content: toArgumentText(content),
    status: toCliTodoStatus(status),
    ...(Array.isArray(dependencies) && { dependencies: dependencies.map(toArgumentText) }),
  };
}
