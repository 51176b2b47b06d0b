/** Run events as the lines of `codex exec --json` (C212). */
import { resolve } from "node:path";
import {
  readNotices,
  toServerNotices,
  type Notice,
  type RunEvent,
  type ToolCallStart,
  type ToolResult,
} from "@sheaf/protocol";
import { encodeLine, type Projection } from "@sheaf/agent/output/projection";
import { toBareId } from "@sheaf/agent/output/result-line";
import { parseMcpToolName } from "@sheaf/agent/tools/mcp/tool-name";
import { createGrowingText } from "@sheaf/base/growing-text";
import { createRunSummary } from "@sheaf/documents/run-summary";

/** A part of a turn, before it has an id. */
type Item = Readonly<Record<string, unknown>> & { readonly type: string };

/** A call without a result yet. */
interface OpenCall {
  readonly start: ToolCallStart;
  /** Id of the call's item; "" before its start. */
  readonly id: string;
  readonly given: Readonly<Record<string, unknown>>;
}

export function createCodexLines(): Projection {
  return new CodexLines();
}

class CodexLines implements Projection {
  readonly #summary = createRunSummary();
  readonly #calls = new Map<string, OpenCall>();
  readonly #told = new Set<string>();
  /** Kind of the open text, which becomes an item as soon as another part follows. */
  #kind: "agent_message" | "reasoning" = "agent_message";
  #text = createGrowingText();
  /** The task list, which is one item for the whole turn. */
  #todo: (Item & { readonly id: string }) | undefined;
  #items = 0;
  #workspace = "";

  push(event: RunEvent): readonly string[] {
    this.#summary.push(event);
    return event.type === "run_end"
      ? this.#endRun(event)
      : [...this.#toLines(event), ...this.#toNotices(readNotices(event))];
  }

  #toLines(event: RunEvent): string[] {
    switch (event.type) {
      case "run_start":
        this.#workspace = event.workspace;
        return [
          encodeLine({ type: "thread.started", thread_id: toBareId(event.conversationId) }),
          encodeLine({ type: "turn.started" }),
          ...this.#toNotices(toServerNotices(event)),
        ];
      case "text_delta":
        return this.#grow("agent_message", event.text);
      case "reasoning_delta":
        return this.#grow("reasoning", event.text);
      case "turn_start":
        return this.#endText();
      case "tool_call_start":
        this.#calls.set(event.callId, { start: event, id: "", given: {} });
        return this.#endText();
      case "tool_call_arguments":
        return this.#startCall(event.callId, event.arguments);
      case "tool_result":
        return this.#endCall(event);
      default:
        return [];
    }
  }

  #toNotices(notices: readonly Notice[]): string[] {
    const added = notices.filter(({ message }) => !this.#told.has(message));
    for (const { message } of added) this.#told.add(message);
    return added.map(({ message }) => this.#complete({ type: "error", message }));
  }

  #newId(): string {
    this.#items += 1;
    return `item_${this.#items - 1}`;
  }

  #complete(item: Item, id = this.#newId()): string {
    return encodeLine({ type: "item.completed", item: { id, ...item } });
  }

  #grow(kind: "agent_message" | "reasoning", text: string): string[] {
    const before = kind === this.#kind ? [] : this.#endText();
    this.#kind = kind;
    this.#text.push(text);
    return before;
  }

  #endText(): string[] {
    const { text } = this.#text;
    this.#text = createGrowingText();
    return text.trim() === "" ? [] : [this.#complete({ type: this.#kind, text })];
  }

  #startCall(callId: string, given: OpenCall["given"]): string[] {
    const call = this.#calls.get(callId);
    // The effect shows a change of files or of the task list, so the call needs no item.
    if (!call || call.start.documentType === "file_edit" || call.start.documentType === "todo_update") return [];
    const id = this.#newId();
    this.#calls.set(callId, { ...call, id, given });
    return [encodeLine({ type: "item.started", item: { id, ...toItem(call.start, given) } })];
  }

  #endCall(result: ToolResult): string[] {
    const { start, id, given } = this.#calls.get(result.callId) ?? {};
    if (!start || id === undefined || !given) return [];
    this.#calls.delete(result.callId);
    const { effect, error } = result;
    const lines: string[] = [];
    if (id !== "") lines.push(this.#complete(toItem(start, given, result), id));
    else if (start.documentType === "file_edit") lines.push(this.#complete(toFileChange(result, this.#workspace)));
    else if (effect?.kind === "todo") {
      const items = effect.todos.map(({ content, status }) => ({ text: content, completed: status === "completed" }));
      const type = this.#todo ? "item.updated" : "item.started";
      this.#todo = { id: this.#todo?.id ?? this.#newId(), type: "todo_list", items };
      lines.push(encodeLine({ type, item: this.#todo }));
    }
    // Other items have a field for the reason.
    const reasons = effect?.kind === "command" ? effect.refusals : error && id === "" ? [error.message] : [];
    for (const reason of reasons ?? []) {
      lines.push(this.#complete({ type: "error", message: `${start.toolName}: ${reason}` }));
    }
    return lines;
  }

  #endRun(end: Extract<RunEvent, { type: "run_end" }>): string[] {
    // Programs read the last message as JSON, so it must be the checked value.
    if ("output" in end && this.#kind === "agent_message") this.#text = createGrowingText();
    const lines = [
      ...this.#endText(),
      ...this.#toNotices(readNotices(end)),
      ...(this.#todo ? [encodeLine({ type: "item.completed", item: this.#todo })] : []),
      ...("output" in end ? [this.#complete({ type: "agent_message", text: JSON.stringify(end.output) })] : []),
    ];
    const { promptTokens, completionTokens, ...usage } = this.#summary.toUsage();
    if (end.error) {
      const message = `${end.error.code}: ${end.error.message}`;
      return [...lines, encodeLine({ type: "turn.failed", error: { message } })];
    }
    const counted = {
      input_tokens: promptTokens,
      cached_input_tokens: usage.cachedPromptTokens ?? 0,
      cache_write_input_tokens: usage.cacheWriteTokens ?? 0,
      output_tokens: completionTokens,
      reasoning_output_tokens: usage.reasoningTokens ?? 0,
    };
    return [...lines, encodeLine({ type: "turn.completed", usage: counted })];
  }
}

/** Makes the item of a call before or after its result. */
function toItem(
  { toolName, documentType, origin }: ToolCallStart,
  given: OpenCall["given"],
  result?: ToolResult,
): Item {
  const { status: end, output = "", effect, error } = result ?? {};
  const isFailed = end !== "success" || (effect?.kind === "command" && effect.exitCode !== 0);
  const status = !result ? "in_progress" : isFailed ? "failed" : "completed";
  if (documentType === "terminal_command") {
    return {
      type: "command_execution",
      command: given.command,
      aggregated_output: [output, error?.message ?? ""].filter((part) => part !== "").join("\n"),
      ...(effect?.kind === "command" && { exit_code: effect.exitCode }),
      status: end === "rejected" ? "declined" : status,
    };
  }
  if (origin === "provider" && toolName === "web_search") return { type: "web_search", query: given.query };
  const { server, tool } = parseMcpToolName(toolName) ?? { server: "sheaf", tool: toolName };
  const item = { type: "mcp_tool_call", server, tool, arguments: given, status };
  if (!result) return item;
  // The report of a failing tool is content, as in a success.
  if (error && effect?.kind !== "mcp") return { ...item, error: { message: error.message } };
  return { ...item, result: { content: [{ type: "text", text: output }], structured_content: null } };
}

const kinds = { create: ["add"], edit: ["update"], delete: ["delete"], rename: ["delete", "add"] } as const;

function toFileChange({ status, effect }: ToolResult, workspace: string): Item {
  const all = effect?.kind === "file_edit" ? effect.changes : [];
  const changes = all.flatMap(({ operation, path, newFilePath = "" }) =>
    kinds[operation].map((kind, index) => ({ path: index === 0 ? path : resolve(workspace, newFilePath), kind })),
  );
  return { type: "file_change", changes, status: status === "success" ? "completed" : "failed" };
}
