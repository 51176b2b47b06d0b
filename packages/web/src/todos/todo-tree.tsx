import { Icon, type IconName } from "../elements/icon.tsx";
import { useMessages } from "../messages/use-messages.ts";
import { type Todo, type TodoState, toProgress } from "./fold-todos.ts";

const stateIcons: Readonly<Record<TodoState, IconName>> = {
  pending: "circle",
  in_progress: "circleHalf",
  completed: "circleCheck",
  cancelled: "circleMinus",
};

/** Todos with their state, each with the todos that it waits for. */
export function TodoTree({ todos, label }: { readonly todos: readonly Todo[]; readonly label: string }) {
  const messages = useMessages();
  const byId = new Map(todos.map((todo) => [todo.id, todo]));
  return (
    <ul class="todos" aria-label={label}>
      {todos.map((todo) => (
        <li key={todo.id} class={`todo todo-${todo.status}`} style={{ "--depth": `${toDepth(todo, byId)}` }}>
          <Icon name={stateIcons[todo.status]} />
          <div>
            <span class="unseen">{messages.todoStates[todo.status]}: </span>
            <span class="todo-content" dir="auto">
              {todo.content}
            </span>
            <Waiting todo={todo} byId={byId} />
          </div>
        </li>
      ))}
    </ul>
  );
}

interface WaitingProps {
  readonly todo: Todo;
  readonly byId: ReadonlyMap<string, Todo>;
}

/** The open dependencies of an open todo. */
function Waiting({ todo, byId }: WaitingProps) {
  const messages = useMessages();
  if (todo.status === "completed" || todo.status === "cancelled") return undefined;
  const open = todo.dependencies.filter((id) => {
    const status = byId.get(id)?.status;
    return id !== todo.id && (status === "pending" || status === "in_progress");
  });
  if (open.length === 0) return undefined;
  return (
    <div class="todo-waits" dir="auto">
      {messages.waitsFor({ todos: open.map((id) => byId.get(id)!.content).join(messages.listSeparator) })}
    </div>
  );
}

/** Returns the depth of a todo, at most 4: todos without dependencies have 0. An untrusted list may contain a cycle. */
function toDepth(todo: Todo, byId: ReadonlyMap<string, Todo>, seen: ReadonlySet<string> = new Set()): number {
  if (seen.size > 4 || seen.has(todo.id)) return 0;
  const known = todo.dependencies.flatMap((id) => byId.get(id) ?? []);
  const inner = new Set([...seen, todo.id]);
  return known.length === 0 ? 0 : Math.min(4, 1 + Math.max(...known.map((next) => toDepth(next, byId, inner))));
}

/** The conversation's current todos, in a panel next to it. */
export function TodoPanel({ todos }: { readonly todos: readonly Todo[] }) {
  const messages = useMessages();
  if (todos.length === 0) return undefined;
  const { done, all } = toProgress(todos);
  return (
    <aside class="todo-panel" aria-label={messages.documentTypes.todo_update}>
      <h2>{messages.documentTypes.todo_update}</h2>
      <progress value={done} max={Math.max(1, all)} aria-label={messages.progress({ done, all })} />
      <p class="todo-progress">{messages.progress({ done, all })}</p>
      <TodoTree todos={todos} label={messages.documentTypes.todo_update} />
    </aside>
  );
}
