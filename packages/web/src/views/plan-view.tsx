import { useConversation } from "../conversation/conversation-port.ts";
import { Button } from "../elements/button.tsx";
import { Badge, Card } from "../elements/card.tsx";
import { CopyButton } from "../elements/copy-button.tsx";
import { Markdown } from "../markdown/markdown.tsx";
import { useMessages } from "../messages/use-messages.ts";
import { readTodos, type Todo, toProgress } from "../todos/fold-todos.ts";
import { TodoTree } from "../todos/todo-tree.tsx";
import { readNumber, readText } from "./metadata.ts";
import { isOpen, type ViewProps } from "./view.ts";

/** A plan, whose todos show their current state, including later updates (R10, N40). */
export function PlanView({ document, responseId, isCurrent }: ViewProps) {
  const messages = useMessages();
  const conversation = useConversation();
  const { metadata } = document;
  const overview = readText(metadata, "overview");
  const revision = readNumber(metadata, "revision");
  const todos = toLiveTodos(readTodos(metadata), conversation.todos);
  const { done, all } = toProgress(todos);
  const isComplete = !isOpen(document);
  const title = readText(metadata, "title");
  return (
    <Card
      kind="plan"
      icon="list"
      title={title === "" ? messages.documentTypes.plan : title}
      facts={
        <>
          {revision !== undefined && revision > 1 ? (
            <Badge>{messages.revision({ number: revision })}</Badge>
          ) : undefined}
          {all > 0 ? <span>{messages.progress({ done, all })}</span> : undefined}
        </>
      }
      actions={<CopyButton text={document.content ?? ""} label={messages.copyPlan} />}
    >
      {overview === "" ? undefined : (
        <p class="plan-overview" dir="auto">
          {overview}
        </p>
      )}
      <Markdown text={document.content ?? ""} isComplete={isComplete} memoryKey={`${responseId}/${document.id}`} />
      {todos.length > 0 ? <TodoTree todos={todos} label={messages.todosOf({ title })} /> : undefined}
      {isCurrent && isComplete && conversation.isPlanned ? (
        <div class="card-buttons">
          <Button
            kind="primary"
            label={messages.buildPlan}
            disabled={!conversation.canSend}
            onClick={() => conversation.buildPlan()}
          />
          <span class="button-note">{messages.buildPlanNote}</span>
        </div>
      ) : undefined}
    </Card>
  );
}

function toLiveTodos(todos: readonly Todo[], live: readonly Todo[]): readonly Todo[] {
  const byId = new Map(live.map((todo) => [todo.id, todo]));
  return todos.map((todo) => ({ ...todo, status: byId.get(todo.id)?.status ?? todo.status }));
}
