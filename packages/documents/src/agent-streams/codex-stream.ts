/** Reads the events of `codex exec --json` as run logs. Each turn of the thread is a run. */
import type { RunEnd, ToolEffect, Usage } from "@sheaf/protocol";
import {
  readCount,
  readFirstString,
  readObject,
  readObjects,
  readString,
  type JsonObject,
} from "../model-streams/read-json.ts";
import { createUsage } from "../model-streams/usage.ts";
import { toAbsolutePath, toWorkspacePath } from "../workspace-path.ts";
import { toErrorEnd, type AgentRun, type NamedCall, type Outcome } from "./agent-run.ts";
import type { AgentReader, AgentStreamNotes } from "./agent-stream.ts";
import { toCommandOutcome, toFailure, toSuccess } from "./agent-tools.ts";

export function createCodexReader(run: AgentRun, notes: AgentStreamNotes): AgentReader {
  /** The text of each item so far. */
  const shown = new Map<string, string>();
  let error = "";
  let last = "";

  function writeGrowing(type: "text_delta" | "reasoning_delta", id: string, text: string): boolean {
    const before = shown.get(id) ?? "";
    if (!text.startsWith(before)) notes.differences += 1;
    else if (text.length > before.length) run.write({ type, text: text.slice(before.length) });
    shown.set(id, text);
    return true;
  }

  function readItem(step: string, item: JsonObject): boolean {
    const [id, text] = [readString(item.id), readString(item.text)];
    const isNext = last === "agent_message" && !shown.has(id);
    last = readString(item.type);
    if (last === "agent_message") {
      // The message is separate: it follows another message without a call between them.
      if (isNext) run.write({ type: "text_delta", text: "\n\n" });
      return writeGrowing("text_delta", id, text);
    }
    if (item.type === "reasoning") return writeGrowing("reasoning_delta", id, text);
    // An error is a warning, unless the turn fails: then it is the reason.
    if (item.type === "error") error = readString(item.message);
    const call = toCall(item);
    if (!call) return false;
    if (!run.hasCall(id)) run.startCall(id, call);
    if (step === "completed") run.endCall(id, toOutcome(item, call, run.workspace));
    return true;
  }

  function endRun(line: JsonObject, end: RunEnd): boolean {
    run.end(end, toUsage(readObject(line.usage)), line);
    shown.clear();
    error = "";
    return true;
  }

  return {
    read(line) {
      const type = readString(line.type);
      if (type === "thread.started") run.facts = { ...run.facts, session: readString(line.thread_id) };
      else if (type.startsWith("item.")) return readItem(type.slice("item.".length), readObject(line.item));
      else if (type === "turn.completed") return endRun(line, { type: "run_end", reason: "end_turn" });
      else if (type === "turn.failed")
        return endRun(line, toFailedEnd(readString(readObject(line.error).message) || error));
      else if (type === "error") error = readString(line.message);
      else return type === "turn.started";
      return true;
    },
    end() {
      if (error !== "" && run.isStarted) endRun({}, toFailedEnd(error));
    },
  };
}

function toFailedEnd(message: string): RunEnd {
  return toErrorEnd({ code: "PROVIDER_REJECTED", message: message || "the turn failed without a reason" });
}

function toUsage(usage: JsonObject): Usage {
  return createUsage({
    prompt: readCount(usage.input_tokens),
    completion: readCount(usage.output_tokens),
    reasoning: readCount(usage.reasoning_output_tokens),
    cached: readCount(usage.cached_input_tokens),
  });
}

function toCall(item: JsonObject): NamedCall | undefined {
  switch (item.type) {
    case "command_execution":
      return { toolName: "run_terminal_cmd", arguments: { command: item.command } };
    case "file_change": {
      const [first] = readObjects(item.changes);
      const isWhole = readObjects(item.changes).every(({ kind }) => kind === "delete");
      return { toolName: isWhole ? "delete_file" : "edit_file", arguments: { target_file: first?.path, edits: [] } };
    }
    case "mcp_tool_call":
      return {
        toolName: `mcp__${readString(item.server)}__${readString(item.tool)}`,
        arguments: readObject(item.arguments),
      };
    case "web_search":
      return { toolName: "web_search", arguments: { query: item.query } };
    case "todo_list": {
      const todos = readObjects(item.items).map(({ text, completed }, index) => ({
        id: String(index + 1),
        content: text,
        status: completed === true ? "completed" : "pending",
      }));
      return { toolName: "todo_write", arguments: { todos, merge: false } };
    }
    default:
      return undefined;
  }
}

function toOutcome(item: JsonObject, call: NamedCall, workspace: string): Outcome {
  const output = readString(item.aggregated_output);
  if (item.type === "command_execution") {
    if (item.status === "declined") return toFailure(output || "Codex did not run the command (declined)", "rejected");
    const exitCode = readCount(item.exit_code) ?? (item.status === "failed" ? 1 : 0);
    return toCommandOutcome({ command: readString(item.command), exitCode, output }, call.arguments, workspace);
  }
  const { message } = readObject(item.error);
  if (item.status === "failed") return toFailure(readString(message) || "the call failed");
  if (item.type === "file_change") return toSuccess("", toChanges(readObjects(item.changes), workspace));
  if (item.type === "todo_list") return toSuccess("", toTodoEffect(call));
  const parts = readObjects(readObject(item.result).content);
  return toSuccess(parts.map(({ text }) => readString(text)).join("\n"));
}

const operations = { add: "create", delete: "delete", update: "edit" } as const;

/** Makes the effect of the changed files, which the stream lists without their changes. */
function toChanges(changes: readonly JsonObject[], workspace: string): ToolEffect {
  return {
    kind: "file_edit",
    changes: changes.map(({ path, kind }) => ({
      operation: operations[readString(kind) as keyof typeof operations] ?? "edit",
      filePath: toWorkspacePath(readString(path), workspace),
      path: toAbsolutePath(readString(path), workspace),
      content: null,
      linesAdded: 0,
      linesRemoved: 0,
      bytes: 0,
    })),
  };
}

function toTodoEffect({ arguments: { todos } }: NamedCall): ToolEffect {
  const changes = readObjects(todos).map(({ id, content, status }) => ({
    id: readString(id),
    content: readFirstString(content),
    status: status === "completed" ? ("completed" as const) : ("pending" as const),
  }));
  return { kind: "todo", changes, todos: changes.map((todo) => ({ ...todo, dependencies: [] })) };
}
