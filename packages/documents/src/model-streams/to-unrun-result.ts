import type { TodoChange, TodoStatus, ToolDocumentType, ToolEffect, ToolResult } from "@sheaf/protocol";
import { notExecutedCode } from "../tool-document.ts";
import { findTextArgument, toListArgument, toTextArgument, type ToolArguments } from "../tool-arguments.ts";

/** A tool call of which the model's side is all there is. */
export interface UnrunToolCall {
  readonly callId: string;
  readonly toolName: string;
  readonly documentType: ToolDocumentType;
  /** Undefined while they are not complete, or where they did not parse (N30). */
  readonly arguments: ToolArguments | undefined;
}

/**
 * The result of a call that nothing runs.
 * A plan, a question and a change of the task list are what the model wrote: nothing is to be run for them, so they are
 * a success. Everything else is an error NOT_EXECUTED.
 */
export function toUnrunResult(call: UnrunToolCall): ToolResult {
  const { callId, toolName, documentType, arguments: values } = call;
  const base = { type: "tool_result", callId, output: "", durationMs: 0 } as const;
  const isDone = documentType === "plan" || documentType === "clarification" || documentType === "todo_update";
  if (isDone && values !== undefined) {
    return { ...base, status: "success", ...(documentType === "todo_update" ? { effect: toTodoEffect(values) } : {}) };
  }
  const why = values === undefined ? "its arguments are no complete JSON object" : "nothing here runs tools";
  const message = `The call of ${toolName || "a tool without a name"} was not run: ${why}.`;
  return { ...base, status: "error", error: { code: notExecutedCode, message, details: "" } };
}

const statuses: ReadonlyMap<string, TodoStatus> = new Map(
  (["pending", "in_progress", "completed", "cancelled"] as const).map((status) => [status, status]),
);

/** The changes as the model wants them; entries without an id or a known status are left out (N41). */
function toTodoEffect(values: ToolArguments): ToolEffect {
  const changes = toListArgument(values, "todos").flatMap((entry): TodoChange[] => {
    const id = toTextArgument(entry, "id");
    const status = statuses.get(toTextArgument(entry, "status"));
    const content = findTextArgument(entry, "content");
    if (id === "" || status === undefined) return [];
    return [{ id, status, ...(content === undefined ? {} : { content }) }];
  });
  return { kind: "todo", changes, todos: [] };
}
