/** A run as the lines of Claude Code: messages with one block each, and results of calls (C204). */
import { createHash } from "node:crypto";
import { resolve } from "node:path";
import type { RunEvent, RunStart, ToolResult, Usage } from "@sheaf/protocol";
import { createGrowingText } from "@sheaf/base/growing-text";
import { toOwnEvent } from "@sheaf/agent/output/agent-names";
import { encodeLine, type Projection } from "@sheaf/agent/output/projection";
import { createResultCollector, toBareId } from "@sheaf/agent/output/result-line";
import { claudeModes, toToolInput } from "@sheaf/agent/tools/hooks/hook-input";
import { describeTool, listToolNames } from "@sheaf/agent/tools/registry";

type Fields = Readonly<Record<string, unknown>>;

/** Creates the output of the result object alone (`--output-format json`). */
export function createClaudeJson(): Projection {
  const stream = createClaudeStream({ isPartial: false });
  return { push: (event) => (event.type === "run_end" ? stream.push(event).slice(-1) : (stream.push(event), [])) };
}

/** Creates the output. `isPartial`: `stream_event` lines show each message while the model writes it. */
export function createClaudeStream(options: { readonly isPartial: boolean }): Projection {
  return new ClaudeStream(options);
}

/** Subtypes of failures by the codes of Sheaf; any other is `error_during_execution`. */
const failures: Readonly<Record<string, string>> = {
  BUDGET_TURNS: "error_max_turns",
  BUDGET_COST: "error_max_budget_usd",
  OUTPUT_INVALID: "error_max_structured_output_retries",
};

function toName(toolName: string): string {
  return describeTool(toolName)?.claude?.name ?? toolName;
}

function toUsage(usage: Usage | undefined): Fields {
  const { promptTokens = 0, completionTokens = 0, cachedPromptTokens = 0, cacheWriteTokens = 0 } = usage ?? {};
  return {
    input_tokens: Math.max(0, promptTokens - cachedPromptTokens - cacheWriteTokens),
    output_tokens: completionTokens,
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cachedPromptTokens,
    server_tool_use: { web_search_requests: 0 },
  };
}

/** A message under construction; each of its blocks becomes a line. */
interface OpenMessage {
  readonly id: string;
  readonly model: string;
  index: number;
  block: { readonly kind: "text" | "thinking"; readonly words: ReturnType<typeof createGrowingText> } | undefined;
  hasCalls: boolean;
}

interface OpenCall {
  readonly name: string;
  input: Fields;
}

class ClaudeStream implements Projection {
  readonly #isPartial: boolean;
  readonly #collector = createResultCollector();
  readonly #calls = new Map<string, OpenCall>();
  readonly #denials: Fields[] = [];
  /** Open messages by the subagent's call; null for the main run. */
  readonly #messages = new Map<string | null, OpenMessage>();
  #start: RunStart | undefined;
  #lines = 0;
  #answer = "";
  #stopReason: string | null = null;

  constructor({ isPartial }: { readonly isPartial: boolean }) {
    this.#isPartial = isPartial;
  }

  push(event: RunEvent): readonly string[] {
    this.#collector.push(event);
    if (event.type === "agent_event") return this.#pushOwn(toOwnEvent(event), event.callId);
    if (event.type === "run_start") return [this.#initLine(event)];
    if (event.type === "run_end") return [...this.#endBlock(null), this.#resultLine()];
    return this.#pushOwn(event, null);
  }

  #pushOwn(event: RunEvent, parent: string | null): readonly string[] {
    switch (event.type) {
      case "turn_start":
        return this.#startMessage(event.turn, parent);
      case "text_delta":
        return this.#pushText("text", event.text, parent);
      case "reasoning_delta":
        return this.#pushText("thinking", event.text, parent);
      case "tool_call_start":
        this.#calls.set(event.callId, { name: event.toolName, input: {} });
        return this.#endBlock(parent);
      case "tool_call_arguments":
        return this.#callLines(event, parent);
      case "tool_result":
        return [...this.#endBlock(parent), this.#outcomeLine(event, parent)];
      case "turn_end":
        return this.#endMessage(event, parent);
      default:
        return [];
    }
  }

  #line(fields: Fields): string {
    this.#lines += 1;
    const { responseId = "", conversationId = "" } = this.#start ?? {};
    const digest = createHash("sha256").update(`${responseId} ${this.#lines}`).digest("hex");
    const uuid = digest.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-4$3-8$4-$5");
    return encodeLine({ ...fields, session_id: toBareId(conversationId), uuid });
  }

  #initLine(start: RunStart): string {
    this.#start = start;
    const { workspace, modelName, permissionMode, mcpServers = [], sheafVersion, notices = [] } = start;
    const names = listToolNames().map(toName);
    return this.#line({
      type: "system",
      subtype: "init",
      cwd: workspace,
      tools: [
        ...new Set([
          ...names,
          ...mcpServers.flatMap(({ name, tools }) => tools.map((tool) => `mcp__${name}__${tool}`)),
        ]),
      ],
      mcp_servers: mcpServers.map(({ name, status }) => ({
        name,
        status: status === "ready" ? "connected" : "failed",
      })),
      model: modelName,
      permissionMode: claudeModes[permissionMode],
      apiKeySource: "none",
      claude_code_version: `sheaf ${sheafVersion}`,
      slash_commands: [],
      output_style: "default",
      agents: [],
      skills: [],
      plugins: [],
      ...(notices.length > 0 && { notices: notices.map(({ message }) => message) }),
    });
  }

  #eventLines(event: Fields, parent: string | null): string[] {
    return this.#isPartial ? [this.#line({ type: "stream_event", event, parent_tool_use_id: parent })] : [];
  }

  #startMessage(turn: number, parent: string | null): string[] {
    const { responseId = "", modelName: model = "" } = this.#start ?? {};
    const id = `msg_${toBareId(responseId)}_${parent === null ? "" : `${parent}_`}${turn}`;
    const message: OpenMessage = { id, model, index: 0, block: undefined, hasCalls: false };
    this.#messages.set(parent, message);
    return this.#eventLines({ type: "message_start", message: toMessage(message, []) }, parent);
  }

  #pushText(kind: "text" | "thinking", text: string, parent: string | null): string[] {
    const message = this.#messages.get(parent);
    if (!message || text === "") return [];
    const lines = message.block?.kind === kind ? [] : this.#endBlock(parent);
    const { index } = message;
    if (!message.block) {
      message.block = { kind, words: createGrowingText() };
      const empty = toBlock(kind, "");
      lines.push(...this.#eventLines({ type: "content_block_start", index, content_block: empty }, parent));
    }
    message.block.words.push(text);
    if (!this.#isPartial) return lines;
    const delta = { type: `${kind}_delta`, [kind]: text };
    return [...lines, ...this.#eventLines({ type: "content_block_delta", index, delta }, parent)];
  }

  #endBlock(parent: string | null): string[] {
    const message = this.#messages.get(parent);
    if (!message?.block) return [];
    const { kind, words } = message.block;
    message.block = undefined;
    if (kind === "text" && parent === null) this.#answer = words.text;
    return this.#blockLines(message, toBlock(kind, words.text), parent);
  }

  #blockLines(message: OpenMessage, block: Fields, parent: string | null): string[] {
    const { index } = message;
    message.index += 1;
    const whole = { type: "assistant", message: toMessage(message, [block]), parent_tool_use_id: parent };
    return [this.#line(whole), ...this.#eventLines({ type: "content_block_stop", index }, parent)];
  }

  #callLines(event: Extract<RunEvent, { type: "tool_call_arguments" }>, parent: string | null): string[] {
    const message = this.#messages.get(parent);
    const call = this.#calls.get(event.callId);
    if (!message || !call) return [];
    const { callId: id, arguments: args } = event;
    call.input = toInput(call.name, args, this.#start?.workspace ?? "/");
    message.hasCalls = true;
    const block = { type: "tool_use", id, name: toName(call.name), input: {} };
    const { index } = message;
    const delta = { type: "input_json_delta", partial_json: JSON.stringify(call.input) };
    return [
      ...this.#eventLines({ type: "content_block_start", index, content_block: block }, parent),
      ...this.#eventLines({ type: "content_block_delta", index, delta }, parent),
      ...this.#blockLines(message, { ...block, input: call.input }, parent),
    ];
  }

  #outcomeLine(result: ToolResult, parent: string | null): string {
    const { callId, status, output, error, attachments = [] } = result;
    const { name = "", input = {} } = this.#calls.get(callId) ?? {};
    this.#calls.delete(callId);
    if (status === "rejected") this.#denials.push({ tool_name: toName(name), tool_use_id: callId, tool_input: input });
    const images = attachments.map(({ mediaType, data }) => ({
      type: "image",
      source: { type: "base64", media_type: mediaType, data },
    }));
    const text = error && output === "" ? error.message : output;
    const content = images.length === 0 ? text : [{ type: "text", text }, ...images];
    const block = {
      type: "tool_result",
      tool_use_id: callId,
      content,
      ...(status !== "success" && { is_error: true }),
    };
    return this.#line({ type: "user", message: { role: "user", content: [block] }, parent_tool_use_id: parent });
  }

  #endMessage({ usage, finishReason }: Extract<RunEvent, { type: "turn_end" }>, parent: string | null): string[] {
    const lines = this.#endBlock(parent);
    const message = this.#messages.get(parent);
    const stop_reason = message?.hasCalls ? "tool_use" : finishReason === "max_tokens" ? "max_tokens" : "end_turn";
    if (parent === null) this.#stopReason = stop_reason;
    const delta = { stop_reason, stop_sequence: null };
    return [
      ...lines,
      ...this.#eventLines({ type: "message_delta", delta, usage: toUsage(usage) }, parent),
      ...this.#eventLines({ type: "message_stop" }, parent),
    ];
  }

  #resultLine(): string {
    const { result } = this.#collector;
    const { modelName = "", context } = this.#start ?? {};
    const counted = result?.usage;
    const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = counted ?? {};
    const cost = result?.total_cost_usd ?? 0;
    const error = result?.subtype === "error" ? result.error : undefined;
    return this.#line({
      type: "result",
      subtype: error ? (failures[error.code] ?? "error_during_execution") : "success",
      is_error: error !== undefined,
      duration_ms: result?.duration_ms ?? 0,
      duration_api_ms: result?.duration_model_ms ?? 0,
      num_turns: result?.num_turns ?? 0,
      ...(error ? { errors: [`${error.code}: ${error.message}`] } : { result: this.#answer }),
      stop_reason: this.#stopReason,
      total_cost_usd: cost,
      usage: toUsage({
        promptTokens: inputTokens,
        completionTokens: outputTokens,
        totalTokens: inputTokens + outputTokens,
        cachedPromptTokens: cacheReadTokens,
        cacheWriteTokens,
      }),
      modelUsage: {
        [modelName]: {
          inputTokens: Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens),
          outputTokens,
          cacheReadInputTokens: cacheReadTokens,
          cacheCreationInputTokens: cacheWriteTokens,
          webSearchRequests: 0,
          costUSD: cost,
          contextWindow: context?.windowTokens ?? 0,
        },
      },
      permission_denials: this.#denials,
      ...(result && "structured_output" in result && { structured_output: result.structured_output }),
    });
  }
}

function toMessage({ id, model }: OpenMessage, content: readonly Fields[]): Fields {
  const usage = toUsage(undefined);
  return { id, type: "message", role: "assistant", model, content, stop_reason: null, stop_sequence: null, usage };
}

function toBlock(kind: "text" | "thinking", words: string): Fields {
  return kind === "text" ? { type: kind, text: words } : { type: kind, thinking: words, signature: "" };
}

/** Returns a call's arguments as hooks get them, with unresolved links, since only the disk has their targets. */
function toInput(toolName: string, args: Fields, root: string): Fields {
  return toToolInput({ toolName, arguments: args }, (path) => resolve(root, path));
}
