import { useConversation } from "../conversation/conversation-port.ts";
import { LineCard } from "../elements/line-card.tsx";
import { useUnfolded } from "../elements/remembered.ts";
import type { Messages } from "../messages/messages.ts";
import { useMessages } from "../messages/use-messages.ts";
import { readTodos, type Todo, toProgress } from "../todos/fold-todos.ts";
import { TodoTree } from "../todos/todo-tree.tsx";
import type { ViewProps } from "./view.ts";

/** One line about changed todos, which unfolds to the whole current list (R13, N41). */
export function TodoUpdateView({ document, responseId }: ViewProps) {
  const messages = useMessages();
  const { todos } = useConversation();
  const [isUnfolded, setUnfolded] = useUnfolded(`${responseId}/${document.id}/unfolded`);
  const changes = readTodos(document.metadata);
  const { done, all } = toProgress(todos);
  return (
    <LineCard
      icon="list"
      title={messages.documentTypes.todo_update}
      detail={toSummary(changes, todos, messages)}
      facts={messages.progress({ done, all })}
      isUnfolded={isUnfolded}
      onToggle={setUnfolded}
    >
      <TodoTree todos={todos} label={messages.documentTypes.todo_update} />
    </LineCard>
  );
}

/** Returns the most important change by its name, with the number of the others. */
function toSummary(changes: readonly Todo[], todos: readonly Todo[], messages: Messages): string {
  const main =
    changes.find(({ status }) => status === "in_progress") ??
    changes.findLast(({ status }) => status === "completed") ??
    changes[0];
  if (main === undefined) return "";
  const known = todos.find(({ id }) => id === main.id);
  const content = main.content === "" ? (known?.content ?? main.id) : main.content;
  const [state, others] = [messages.todoStates[main.status], changes.length - 1];
  return others > 0 ? messages.todoChanges({ content, state, others }) : messages.todoChange({ content, state });
}
