/** `--output-format stream-json`: one JSON object a line (C4 to C10, C12, C22). */
import {
  cliSchemaVersion,
  type FunctionPayload,
  type InitLine,
  type RunEvent,
  type RunStart,
  type ToolCallArguments,
  type ToolCallLine,
  type ToolOutcome,
  type UserLine,
} from "@sheaf/protocol";
import { toCliArguments } from "./cli-arguments.ts";
import { toCliOutcome } from "./cli-outcome.ts";
import type { Projection } from "./projection.ts";
import { createResultCollector, toBareId } from "./result-line.ts";

/** Options of the format. */
export interface StreamJsonOptions {
  /** `--include-thinking` (C12). */
  readonly includeThinking?: boolean;
}

/** A call whose `started` line is out and whose `completed` line is not. */
interface StartedCall {
  readonly toolName: string;
  readonly arguments: ToolCallArguments;
}

const isBlank = (text: string): boolean => text.trim() === "";

/** Makes the lines; holds no more than the answer's text and the open calls. */
export function createStreamJsonProjection(options: StreamJsonOptions = {}): Projection {
  return new StreamJson(options.includeThinking ?? false);
}

class StreamJson implements Projection {
  readonly #includeThinking: boolean;
  readonly #collector = createResultCollector();
  readonly #toolNames = new Map<string, string>();
  readonly #started = new Map<string, StartedCall>();
  #sessionId = "";
  /** Text that is held back until the next delta (C7). */
  #held = "";
  #lastText = "";
  #isThinking = false;
  /** What stands before and behind the text in an `assistant` line: most lines differ in nothing else. */
  #assistantHead = "";
  #assistantTail = "";

  constructor(includeThinking: boolean) {
    this.#includeThinking = includeThinking;
  }

  push(event: RunEvent): readonly string[] {
    this.#collector.push(event);
    switch (event.type) {
      case "run_start":
        return this.#startLines(event);
      case "text_delta":
        return [...this.#endThinking(event.time), ...this.#textLines(event.text, event.time)];
      case "reasoning_delta":
        return this.#thinkingLines(event.text, event.time);
      case "tool_call_start":
        this.#toolNames.set(event.callId, event.toolName);
        return [...this.#endThinking(event.time), ...this.#flush(event.time)];
      case "tool_call_arguments":
        return this.#startedLines(event, event.time);
      case "tool_result": {
        const call = this.#started.get(event.callId);
        this.#started.delete(event.callId);
        return call ? [this.#toolLine("completed", call, event.time, toCliOutcome(call.toolName, event))] : [];
      }
      case "turn_end":
        return [...this.#endThinking(event.time), ...this.#flush(event.time)];
      case "run_end":
        return [...this.#endThinking(event.time), ...this.#flush(event.time), encodeLine(this.#collector.result)];
      case "turn_start":
      case "tool_call_arguments_delta":
      case "tool_output_delta":
      case "approval_request":
      case "approval_resolved":
      case "reference_check":
        return [];
    }
  }

  formatHeartbeat(time: number): string {
    return encodeLine({ type: "system", subtype: "heartbeat", session_id: this.#sessionId, timestamp_ms: time });
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
    };
    const user: UserLine = {
      type: "user",
      message: { role: "user", content: [{ type: "text", text: start.prompt }] },
      session_id: this.#sessionId,
    };
    return [encodeLine(init), encodeLine(user)];
  }

  /** C7: a chunk that is only white space, or equal to the one before, is joined to the next. */
  #textLines(delta: string, time: number): string[] {
    const text = this.#held + delta;
    if (isBlank(text) || text === this.#lastText) {
      this.#held = text;
      return [];
    }
    this.#held = "";
    return [this.#assistantLine(text, time)];
  }

  /**
   * What is held back has no next chunk to be joined to. Readers drop a line that equals the one before,
   * so such a text goes out in two pieces.
   */
  #flush(time: number): string[] {
    if (this.#held === "") return [];
    const text = this.#held;
    this.#held = "";
    const [first = ""] = text;
    const pieces = text === this.#lastText && text.length > first.length ? [first, text.slice(first.length)] : [text];
    return pieces.map((piece) => this.#assistantLine(piece, time));
  }

  #assistantLine(text: string, time: number): string {
    this.#lastText = text;
    return `${this.#assistantHead}${JSON.stringify(text)}${this.#assistantTail}${time}}\n`;
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

  #startedLines(event: ToolCallArguments, time: number): string[] {
    const toolName = this.#toolNames.get(event.callId) ?? "";
    this.#toolNames.delete(event.callId);
    const call = { toolName, arguments: event };
    this.#started.set(event.callId, call);
    return [this.#toolLine("started", call, time)];
  }

  #toolLine(subtype: "started" | "completed", call: StartedCall, time: number, result?: ToolOutcome): string {
    const line: ToolCallLine = {
      type: "tool_call",
      subtype,
      call_id: call.arguments.callId,
      tool_call: toToolCall(call, result),
      session_id: this.#sessionId,
      timestamp_ms: time,
    };
    return encodeLine(line);
  }
}

function toToolCall(call: StartedCall, result: ToolOutcome | undefined): ToolCallLine["tool_call"] {
  const { callId, arguments: args, rawArguments } = call.arguments;
  const outcome = result && { result };
  const known = toCliArguments(call.toolName, args, callId);
  if (known) return { [known.key]: { args: known.args, ...outcome } };
  const payload: FunctionPayload = { name: call.toolName, arguments: rawArguments ?? JSON.stringify(args), ...outcome };
  return { function: payload };
}

function encodeLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}
