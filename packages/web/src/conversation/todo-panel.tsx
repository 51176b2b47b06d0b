import { useMessages } from "../messages/use-messages.ts";
import { type Todo, toProgress } from "../todos/fold-todos.ts";
import { TodoTree } from "../todos/todo-tree.tsx";

/** The current list, next to the conversation. */
export function TodoPanel({ todos }: { readonly todos: readonly Todo[] }) {
  const messages = useMessages();
  if (todos.length === 0) return undefined;
  const { done, all } = toProgress(todos);
  return (
    <aside class="todo-panel" aria-label={messages.todoList}>
      <h2>{messages.todoList}</h2>
      <progress value={done} max={Math.max(1, all)} aria-label={messages.progress(done, all)} />
      <p class="todo-progress">{messages.progress(done, all)}</p>
      <TodoTree todos={todos} label={messages.todoList} />
    </aside>
  );
}
