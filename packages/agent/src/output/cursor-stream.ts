/** `stream-json` in the profile `cursor-2026` (C30), by the captured streams of that program. */
import { readNotices, type CliUsage, type RunEvent, type RunStart, type ResultSuccess } from "@sheaf/protocol";
import { createGrowingText } from "@sheaf/base/growing-text";
import { createAssistantPieces } from "./assistant-pieces.ts";
import { encodeLine, type Projection } from "./projection.ts";
import { createResultCollector, toBareId } from "./result-line.ts";
import type { StreamJsonOptions } from "./stream-json.ts";
import { createToolCallTracker } from "./tool-call-tracker.ts";

/** Output of `--stream-partial-output`. */
export type PartialOutput = "deltas" | "both";

export interface CursorProjectionOptions extends StreamJsonOptions {
  /** `--stream-partial-output`: deltas, each with its time, instead of segments; `both` prints both (C44). */
  readonly partial?: PartialOutput | undefined;
}

/** Creates the lines, without Sheaf's own fields; keeps only the answer's text and the open calls. */
export function createCursorStreamProjection(options: CursorProjectionOptions = {}): Projection {
  return new CursorStream(options);
}

class CursorStream implements Projection {
  readonly #options: CursorProjectionOptions;
  readonly #collector = createResultCollector();
  readonly #calls = createToolCallTracker();
  #pieces = createAssistantPieces();
  #sessionId = "";
  #requestId = "";
  #turn = 0;
  /** Text since the last tool call, which becomes one line. */
  #segment = createGrowingText();
  #isThinking = false;

  constructor(options: CursorProjectionOptions) {
    this.#options = options;
  }

  push(event: RunEvent): readonly string[] {
    this.#collector.push(event);
    switch (event.type) {
      case "run_start":
        return this.#startLines(event);
      case "turn_start":
        this.#turn = event.turn;
        return [];
      case "reasoning_delta":
        return this.#thinkingLines(event.text, event.time);
      case "text_delta":
        this.#segment.push(event.text);
        return [...this.#endThinking(event.time), ...this.#deltaLines(event.text, event.time)];
      case "tool_call_start":
        this.#calls.push(event);
        return [...this.#endThinking(event.time), ...this.#endSegment(event.time)];
      case "tool_call_arguments":
      case "tool_result":
        return this.#toolLines(event);
      case "turn_end":
        return [...this.#endThinking(event.time), ...this.#partialLines(this.#pieces.flush(), event.time)];
      case "run_end":
        return this.#endLines(event.time);
      default:
        return [];
    }
  }

  #startLines(start: RunStart): string[] {
    const { conversationId, responseId, apiKeySource, workspace, modelName, prompt } = start;
    const notices = readNotices(start).map(({ message }) => message);
    this.#sessionId = toBareId(conversationId);
    this.#requestId = toBareId(responseId);
    const session_id = this.#sessionId;
    return [
      encodeLine({
        type: "system",
        subtype: "init",
        apiKeySource: apiKeySource === "none" ? "login" : apiKeySource,
        cwd: workspace,
        session_id,
        model: modelName,
        permissionMode: "default",
        ...(notices.length > 0 && { notices }),
      }),
      encodeLine({ type: "user", message: toMessage("user", prompt), session_id }),
    ];
  }

  #deltaLines(delta: string, time: number): string[] {
    return this.#options.partial ? this.#partialLines(this.#pieces.push(delta), time) : [];
  }

  #partialLines(pieces: readonly string[], time: number): string[] {
    if (!this.#options.partial) return [];
    return pieces.map((text) => this.#assistantLine(text, { timestamp_ms: time }));
  }

  /** Ends a segment before a tool call, with the id of its request; blank text waits for the next segment. */
  #endSegment(time: number): string[] {
    const rest = this.#partialLines(this.#pieces.flush(), time);
    const { text } = this.#segment;
    if (text.trim() === "") return rest;
    this.#segment = createGrowingText();
    if (this.#options.partial === "deltas") return rest;
    this.#pieces = createAssistantPieces();
    return [...rest, this.#assistantLine(text, { model_call_id: this.#callId(), timestamp_ms: time })];
  }

  /** Ends the answer. The last segment has no id and no time; a run that fails has no `result` line. */
  #endLines(time: number): string[] {
    const rest = [...this.#endThinking(time), ...this.#partialLines(this.#pieces.flush(), time)];
    const { text } = this.#segment;
    if (text !== "" && this.#options.partial !== "deltas") rest.push(this.#assistantLine(text, {}));
    const { result } = this.#collector;
    if (result?.subtype !== "success") return rest;
    return [...rest, encodeLine(toCursorResult(result))];
  }

  #assistantLine(text: string, more: { readonly model_call_id?: string; readonly timestamp_ms?: number }): string {
    const message = toMessage("assistant", text);
    return encodeLine({ type: "assistant", message, session_id: this.#sessionId, ...more });
  }

  #thinkingLines(text: string, time: number): string[] {
    if (!this.#options.includeThinking || text === "") return [];
    this.#isThinking = true;
    const line = { type: "thinking", subtype: "delta", text, session_id: this.#sessionId, timestamp_ms: time };
    return [encodeLine(line)];
  }

  #endThinking(time: number): string[] {
    if (!this.#isThinking) return [];
    this.#isThinking = false;
    return [encodeLine({ type: "thinking", subtype: "completed", session_id: this.#sessionId, timestamp_ms: time })];
  }

  #toolLines(event: RunEvent): string[] {
    const call = this.#calls.push(event);
    if (!call) return [];
    const ids = { model_call_id: this.#callId(), session_id: this.#sessionId, timestamp_ms: event.time };
    return [encodeLine({ type: "tool_call", ...call, ...ids })];
  }

  /** Returns one id per model request. */
  #callId(): string {
    return `${this.#requestId}-${this.#turn - 1}`;
  }
}

function toMessage(role: "user" | "assistant", text: string): object {
  return { role, content: [{ type: "text", text }] };
}

/** The fields of that program, in its order, with the field of an explicit flag. */
export type CursorResult = { readonly usage: CliUsage } & Pick<
  ResultSuccess,
  | "type"
  | "subtype"
  | "duration_ms"
  | "duration_api_ms"
  | "is_error"
  | "result"
  | "session_id"
  | "request_id"
  | "structured_output"
>;

/** Removes the fields that only Sheaf has. */
export function toCursorResult(result: ResultSuccess): CursorResult {
  const { type, subtype, duration_ms, duration_api_ms, is_error, result: text, session_id, request_id } = result;
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = result.usage ?? {};
  return {
    type,
    subtype,
    duration_ms,
    duration_api_ms,
    is_error,
    result: text,
    session_id,
    request_id,
    usage: { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens },
    ...("structured_output" in result && { structured_output: result.structured_output }),
  };
}
