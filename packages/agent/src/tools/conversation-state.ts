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

/** Takes todos and plans of an event over, so that a resumed conversation goes on with them. */
export function applyToState(state: ConversationState, event: RunEvent): void {
  if (event.type !== "tool_result" || event.status !== "success") return;
  if (event.effect?.kind === "todo") state.todos = event.effect.todos;
  if (event.effect?.kind === "plan") state.planRevision = event.effect.revision;
}
