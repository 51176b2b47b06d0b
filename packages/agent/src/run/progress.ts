/** The progress of a conversation, from its log: task list, changed files, failed calls (R-25). */
import type { ChangedFile, FileChange, OpenFailure, Progress, RunEventBody, ToolResult } from "@sheaf/protocol";
import { cutMiddle } from "@sheaf/base/files/text-format";

/** Failures that are remembered: the newest. */
const MAX_FAILURES = 5;

/** Longest message of a failure. UTF-16 units. */
const MAX_MESSAGE = 400;

/** Files that are remembered: those that changed last. */
const MAX_CHANGES = 300;

/** Files and tasks that are listed. */
const MAX_LISTED = 100;

export interface ProgressTracker {
  push(event: RunEventBody): void;
  readonly value: Progress;
}

/** Follows the events of a conversation, or of one response: its first event has the progress of those before. */
export function createProgress(): ProgressTracker {
  let value: Progress = { todos: [], changes: [], failures: [] };
  const toolNames = new Map<string, string>();
  const targets = new Map<string, string>();
  return {
    get value() {
      return value;
    },
    push(event) {
      if (event.type === "run_start") value = event.progress ?? value;
      else if (event.type === "tool_call_start") toolNames.set(event.callId, event.toolName);
      else if (event.type === "tool_call_arguments") targets.set(event.callId, toTarget(event.arguments));
      else if (event.type === "tool_result") {
        const call = { toolName: toolNames.get(event.callId) ?? "", target: targets.get(event.callId) ?? "" };
        toolNames.delete(event.callId);
        targets.delete(event.callId);
        value = applyResult(value, event, call);
      }
    },
  };
}

/** The subject of a call: another call of the tool with the same target is a new try. */
function toTarget({ target_file: file, command }: Readonly<Record<string, unknown>>): string {
  const named = [command, file].find((value) => typeof value === "string");
  return cutMiddle(named ?? "", MAX_MESSAGE);
}

type Call = Pick<OpenFailure, "toolName" | "target">;

function applyResult(progress: Progress, result: ToolResult, call: Call): Progress {
  const { effect } = result;
  const isDone = result.status === "success";
  const changed = isDone && effect?.kind === "file_edit" ? effect.changes : [];
  const isSame = (failure: OpenFailure): boolean =>
    failure.target === call.target && (failure.toolName === call.toolName || changed.length > 0);
  const message = toFailureMessage(result);
  const failures = progress.failures.filter((failure) => !isSame(failure));
  return {
    todos:
      isDone && (effect?.kind === "todo" || effect?.kind === "plan") ? effect.todos.map(toKnownTodo) : progress.todos,
    changes: changed.reduce(addChange, progress.changes).slice(-MAX_CHANGES),
    failures:
      message === undefined
        ? failures
        : [...failures, { callId: result.callId, ...call, message }].slice(-MAX_FAILURES),
  };
}

/** Returns undefined if the call succeeded, or if its outcome is unknown. */
function toFailureMessage({ status, effect, error, output }: ToolResult): string | undefined {
  if (status === "cancelled") return undefined;
  if (error) return cutMiddle(`${error.code}: ${error.message}`, MAX_MESSAGE);
  if (effect?.kind !== "command" || effect.background || (effect.exitCode === 0 && !effect.timedOut)) return undefined;
  const end = effect.timedOut ? "timed out" : `exit code ${effect.exitCode}`;
  return `${end}\n${output.trimEnd().slice(-MAX_MESSAGE)}`.trimEnd().toWellFormed();
}

function toKnownTodo({ id, content, status }: Progress["todos"][number]): Progress["todos"][number] {
  return { id, content, status };
}

/** Puts the file that changed last at the end, and drops a file that was created and then deleted. */
function addChange(changes: readonly ChangedFile[], change: FileChange): readonly ChangedFile[] {
  const { operation, filePath, newFilePath = filePath, linesAdded, linesRemoved } = change;
  const before = changes.find((file) => file.filePath === filePath);
  const others = changes.filter((file) => file.filePath !== filePath && file.filePath !== newFilePath);
  const isNew = before?.operation === "create";
  if (operation === "delete") {
    return isNew ? others : [...others, { operation, filePath, linesAdded: 0, linesRemoved: 0 }];
  }
  const kept = before === undefined || before.operation === "delete" ? undefined : before;
  const lines = {
    linesAdded: linesAdded + (kept?.linesAdded ?? 0),
    linesRemoved: linesRemoved + (kept?.linesRemoved ?? 0),
  };
  if (operation !== "rename") return [...others, { operation: kept?.operation ?? operation, filePath, ...lines }];
  return [...others, { operation: isNew ? "create" : "rename", filePath: newFilePath, ...lines }];
}

const verbs = { create: "created", edit: "edited", delete: "deleted", rename: "renamed to this" } as const;

/** Text for the model, or "" without any progress. `isShown` is true for calls whose results the model sees anyway. */
export function formatProgress({ todos, changes, failures }: Progress, isShown: (callId: string) => boolean): string {
  const open = failures.filter(({ callId }) => !isShown(callId));
  const parts = [
    toList("Task list:", todos, ({ id, status, content }) => `[${status}] ${id}: ${content}`),
    toList(
      "Files changed by the file tools:",
      changes,
      ({ operation, filePath, linesAdded, linesRemoved }) =>
        `${filePath} (${verbs[operation]}, +${linesAdded} -${linesRemoved} lines)`,
    ),
    toList(
      "Calls that failed and have not succeeded since:",
      open,
      ({ toolName, target, message }) => `${`${toolName} ${target}`.trimEnd()}: ${message}`,
    ),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

function toList<Item>(head: string, items: readonly Item[], format: (item: Item) => string): string {
  if (items.length === 0) return "";
  const shown = items.slice(-MAX_LISTED).map((item) => `- ${format(item).replaceAll("\n", "\n  ")}`);
  const more = items.length > MAX_LISTED ? ["- (and more before these)"] : [];
  return [head, ...more, ...shown].join("\n");
}
