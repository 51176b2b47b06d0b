/** What tools remember within a conversation; rebuilt from the log when it goes on. */
import type { RunEvent, TodoEffect } from "@sheaf/protocol";

/** One entry of the task list. */
export type Todo = TodoEffect["todos"][number];

export interface ConversationState {
  /** The task list, in order (N41). */
  todos: readonly Todo[];
  /** Revision of the newest plan; 0 if there is none (N40). */
  planRevision: number;
  /** SHA-256 of each file when it was last read or written here, by absolute path: the guard against stale edits. */
  readonly fileHashes: Map<string, string>;
}

/** An empty state. */
export function createConversationState(): ConversationState {
  return { todos: [], planRevision: 0, fileHashes: new Map() };
}

/** Takes todos, plans and changed files of an event over, so that a resumed conversation goes on with them. */
export function applyToState(state: ConversationState, event: RunEvent): void {
  if (event.type !== "tool_result" || event.status !== "success") return;
  const { effect } = event;
  if (effect?.kind === "todo") state.todos = effect.todos;
  if (effect?.kind === "plan") {
    state.planRevision = effect.revision;
    state.todos = effect.todos;
  }
  if (effect?.kind !== "file_edit") return;
  for (const change of effect.changes) {
    if (change.operation === "delete" || change.operation === "rename") state.fileHashes.delete(change.path);
    else if (change.hashAfter !== undefined) state.fileHashes.set(change.path, change.hashAfter);
  }
}
