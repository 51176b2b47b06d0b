/** What tools remember within a conversation; rebuilt from the log when it goes on. */
import type { FileChange, InstrumentationBlock, RunEvent, TodoEffect } from "@sheaf/protocol";
import { toHash } from "../workspace/read-file.ts";
import { applyToAnswers, createStandingAnswers, type StandingAnswers } from "./standing-answers.ts";

/** One entry of the task list. */
export type Todo = TodoEffect["todos"][number];

export interface ConversationState {
  /** The task list, in order (N41). */
  todos: readonly Todo[];
  /** Revision of the newest plan; 0 if there is none (N40). */
  planRevision: number;
  /** SHA-256 of each file when it was last read or written here, by absolute path: the guard against stale edits. */
  readonly fileHashes: Map<string, string>;
  /** SHA-256 of each file as a tool of this response left it, by absolute path; not taken over from the log. */
  readonly writtenHashes: Map<string, string>;
  /** What debug mode put into files and has not taken out yet. */
  instrumentation: readonly InstrumentationBlock[];
  /** Approvals that hold for the conversation (X8). */
  readonly answers: StandingAnswers;
}

/** An empty state. */
export function createConversationState(): ConversationState {
  return {
    todos: [],
    planRevision: 0,
    fileHashes: new Map(),
    writtenHashes: new Map(),
    instrumentation: [],
    answers: createStandingAnswers(),
  };
}

/** Takes todos, plans, changed files and standing answers over, so that a resumed conversation goes on with them. */
export function applyToState(state: ConversationState, event: RunEvent): void {
  applyToAnswers(state.answers, event);
  if (event.type !== "tool_result") return;
  const { effect } = event;
  // A call that failed may have done a part of its work.
  if (effect?.kind === "file_edit" && effect.instrumentation) state.instrumentation = effect.instrumentation;
  if (event.status !== "success") return;
  if (effect?.kind === "todo") state.todos = effect.todos;
  if (effect?.kind === "plan") {
    state.planRevision = effect.revision;
    state.todos = effect.todos;
  }
  if (effect?.kind !== "file_edit") return;
  for (const change of effect.changes) {
    if (change.operation === "delete" || change.operation === "rename") state.fileHashes.delete(change.path);
    else if (change.hashAfter !== undefined) state.fileHashes.set(change.path, change.hashAfter);
    state.instrumentation = followChange(state.instrumentation, change);
  }
}

/** Instrumentation goes where its file goes. */
export function followChange(
  blocks: readonly InstrumentationBlock[],
  { operation, path, newPath = "", newFilePath = "" }: FileChange,
): readonly InstrumentationBlock[] {
  if (blocks.length === 0) return blocks;
  if (operation === "delete") return blocks.filter((block) => block.path !== path);
  if (operation !== "rename") return blocks;
  return blocks.map((block) => (block.path === path ? { ...block, path: newPath, filePath: newFilePath } : block));
}

/** The id of the block that a call puts in: the same for whoever knows the call. */
export function toBlockId(hypothesis: string, callId: string): string {
  return `${hypothesis.replaceAll(/[^\w-]/g, "_").slice(0, 40)}-${toHash(Buffer.from(callId)).slice(0, 8)}`;
}
