/** `--output-format stream-json`: one JSON object a line (C4 to C10, C12, C22). */
import {
  type AgentEvent,
  cliSchemaVersion,
  type HeartbeatLine,
  type HookLine,
  type HookResult,
  type InitLine,
  type RunEvent,
  type RunStart,
  type ToolCallLine,
  type UserLine,
} from "@sheaf/protocol";
import { createAgentNames, toOwnEvent } from "./agent-names.ts";
import { createAssistantPieces } from "./assistant-pieces.ts";
import { encodeLine, type Projection } from "./projection.ts";
import { createResultCollector, toBareId } from "./result-line.ts";
import { createToolCallTracker } from "./tool-call-tracker.ts";

export interface StreamJsonOptions {
  /** True for `--include-thinking` (C12). */
  readonly includeThinking?: boolean;
}

/** Creates the lines; keeps only the answer's text and the open calls. */
export function createStreamJsonProjection(options: StreamJsonOptions = {}): Projection {
  return new StreamJson(options.includeThinking ?? false);
}

class StreamJson implements Projection {
  readonly #includeThinking: boolean;
  readonly #collector = createResultCollector();
  readonly #calls = createToolCallTracker();
  readonly #agents = createAgentNames();
  readonly #pieces = createAssistantPieces();
  #sessionId = "";
  #isThinking = false;
  /** The provider's delay in which the run is now. */
  #wait: HeartbeatLine["waiting"];
  /** The parts around the text in an `assistant` line: most lines differ only in the text. */
  #assistantHead = "";
  #assistantTail = "";

  constructor(includeThinking: boolean) {
    this.#includeThinking = includeThinking;
  }

  push(event: RunEvent): readonly string[] {
    this.#collector.push(event);
    this.#agents.push(event);
    this.#wait = undefined;
    switch (event.type) {
      case "run_start":
        return this.#startLines(event);
      case "provider_wait":
        this.#wait = { code: event.code, until: event.until };
        return [];
      case "text_delta":
        return [...this.#endThinking(event.time), ...this.#textLines(this.#pieces.push(event.text), event.time)];
      case "reasoning_delta":
        return this.#thinkingLines(event.text, event.time);
      case "tool_call_start":
        this.#calls.push(event);
        return [...this.#endThinking(event.time), ...this.#flush(event.time)];
      case "tool_call_arguments":
      case "tool_result":
        return this.#toolLines(event);
      case "agent_event":
        return this.#agentLines(event);
      case "turn_end":
        return [...this.#endThinking(event.time), ...this.#flush(event.time)];
      case "run_end":
        return [...this.#endThinking(event.time), ...this.#flush(event.time), encodeLine(this.#collector.result)];
      case "hook_result":
        return [...this.#endThinking(event.time), ...this.#flush(event.time), this.#toHookLine(event)];
      case "user_message":
        return [...this.#endThinking(event.time), ...this.#flush(event.time), this.#toUserLine(event.message)];
      case "turn_start":
      case "compaction":
      case "provider_data":
      case "tool_call_arguments_delta":
      case "tool_output_delta":
      case "approval_request":
      case "approval_resolved":
      case "reference_check":
        return [];
    }
  }

  formatHeartbeat(time: number): string {
    const line: HeartbeatLine = {
      type: "system",
      subtype: "heartbeat",
      session_id: this.#sessionId,
      timestamp_ms: time,
      ...(this.#wait && { waiting: this.#wait }),
    };
    return encodeLine(line);
  }

  #toHookLine(result: HookResult & Pick<RunEvent, "time">): string {
    const { event, origin, command, callId, status, exitCode, decision, reason, notice, durationMs, time } = result;
    const line: HookLine = {
      type: "system",
      subtype: "hook",
      event,
      origin,
      command,
      ...(callId !== undefined && { call_id: callId }),
      status,
      exit_code: exitCode,
      ...(decision && { decision }),
      ...(reason !== undefined && { reason }),
      ...(notice !== undefined && { notice }),
      duration_ms: durationMs,
      session_id: this.#sessionId,
      timestamp_ms: time,
    };
    return encodeLine(line);
  }

  #startLines(start: RunStart): string[] {
    this.#sessionId = toBareId(start.conversationId);
    const sessionId = JSON.stringify(this.#sessionId);
    this.#assistantHead = `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":`;
    this.#assistantTail = `}]},"session_id":${sessionId},"timestamp_ms":`;
    const init: InitLine = {
      type: "system",
      subtype: "init",
      apiKeySource: start.apiKeySource,
      cwd: start.workspace,
      session_id: this.#sessionId,
      model: start.modelName,
      permissionMode: start.permissionMode,
      schema_version: cliSchemaVersion,
      sheaf_version: start.sheafVersion,
      sandbox: start.sandbox,
      trusted: start.trusted,
      ...(start.addedFolders && { added_folders: start.addedFolders }),
      ...(start.mcpServers && {
        mcp_servers: start.mcpServers.map(({ name, status, tools, problem }) => ({
          name,
          status,
          tools,
          ...(problem !== undefined && { problem }),
        })),
      }),
      ...(start.stdin && { stdin: start.stdin }),
      ...(start.notices && { notices: start.notices }),
    };
    return [encodeLine(init), this.#toUserLine(start.prompt)];
  }

  #toUserLine(text: string): string {
    const message = { role: "user", content: [{ type: "text", text }] } as const;
    return encodeLine({ type: "user", message, session_id: this.#sessionId } satisfies UserLine);
  }

  #textLines(pieces: readonly string[], time: number): string[] {
    return pieces.map((text) => `${this.#assistantHead}${JSON.stringify(text)}${this.#assistantTail}${time}}\n`);
  }

  #flush(time: number): string[] {
    return this.#textLines(this.#pieces.flush(), time);
  }

  #thinkingLines(text: string, time: number): string[] {
    if (!this.#includeThinking || text === "") return [];
    this.#isThinking = true;
    const line = { type: "thinking", subtype: "delta", text, session_id: this.#sessionId, timestamp_ms: time };
    return [...this.#flush(time), encodeLine(line)];
  }

  #endThinking(time: number): string[] {
    if (!this.#isThinking) return [];
    this.#isThinking = false;
    return [encodeLine({ type: "thinking", subtype: "completed", session_id: this.#sessionId, timestamp_ms: time })];
  }

  #toolLines(event: RunEvent, agent?: ToolCallLine["agent"]): string[] {
    const call = this.#calls.push(event);
    if (!call) return [];
    const place = { session_id: this.#sessionId, timestamp_ms: event.time, ...(agent && { agent }) };
    return [encodeLine({ type: "tool_call", ...call, ...place } satisfies ToolCallLine)];
  }

  /** Returns a subagent's calls. Its text is in its result, since `assistant` lines are the answer (C7). */
  #agentLines(event: RunEvent & AgentEvent): string[] {
    if (event.event.type === "provider_wait") this.#wait = { code: event.event.code, until: event.event.until };
    const { callId: call_id, name } = this.#agents.find(event);
    return this.#toolLines(toOwnEvent(event), { call_id, name });
  }
}
