/** The `stream-json` of `cursor-agent`, and of Sheaf, as a run log: documents out of another agent's stream. */
import type { RunEnd, RunEvent, RunEventBody, TurnFinishReason, Usage } from "@sheaf/protocol";
import { createBodyDecoder } from "../model-streams/body-decoder.ts";
import {
  isJsonObject,
  readCount,
  readObject,
  readObjects,
  readString,
  type JsonObject,
} from "../model-streams/read-json.ts";
import { toDocumentType } from "../tool-names.ts";
import { createWholeCharacters } from "../whole-characters.ts";
import { readCall, readOutcome, type NamedCall } from "./cursor-tools.ts";

export interface CursorStreamOptions {
  /** Absolute folder of the run, for a stream that does not name it. Default "". */
  readonly workspace?: string;
  /** Returns a new UUID, for ids that are missing in the stream. */
  readonly newId: () => string;
}

/** What a stream contained besides the events. No line is lost: each is an event or is here. */
export interface CursorStreamReport {
  /** JSON objects read. */
  readonly lines: number;
  /** Texts other than a JSON object; they were skipped. */
  readonly unparsable: number;
  /** Lines that became no event: questions to a person, unknown kinds. */
  readonly others: readonly JsonObject[];
  /** Segments that differ from their deltas. */
  readonly differences: number;
  /** The `result` line, once it has come. */
  readonly result: JsonObject | undefined;
}

/** Makes the run log. Never throws, whatever the stream contains. */
export interface CursorStreamDecoder {
  /** However the stream is cut, the events are the same in total. */
  push(chunk: Uint8Array | string): RunEvent[];
  /** The stream has ended. Open calls get their result, and the last event is `run_end`. */
  end(): RunEvent[];
  readonly report: CursorStreamReport;
}

/** A decoder for one run. */
export function createCursorStreamDecoder(options: CursorStreamOptions): CursorStreamDecoder {
  return new Decoder(options);
}

const noUsage: Usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0, estimated: true };

class Decoder implements CursorStreamDecoder {
  readonly report = {
    lines: 0,
    unparsable: 0,
    others: [] as JsonObject[],
    differences: 0,
    result: undefined as JsonObject | undefined,
  };
  readonly #options: CursorStreamOptions;
  readonly #body = createBodyDecoder();
  /** Calls without a result, by their id in the stream. */
  readonly #open = new Map<string, { readonly callId: string; readonly call: NamedCall }>();
  readonly #characters = createWholeCharacters<RunEventBody>();
  #events: RunEvent[] = [];
  #seq = 0;
  #time = 0;
  #turn = 0;
  #init: JsonObject | undefined;
  #isStarted = false;
  #prompt: string | undefined;
  #isInTurn = false;
  #calls = 0;
  /** Deltas since the last segment. */
  #deltas = "";

  constructor(options: CursorStreamOptions) {
    this.#options = options;
  }

  push(chunk: Uint8Array | string): RunEvent[] {
    for (const { data } of this.#body.push(chunk)) this.#readText(data);
    return this.#take();
  }

  end(): RunEvent[] {
    for (const { data } of this.#body.end()) this.#readText(data);
    this.#start();
    const { result } = this.report;
    this.#endTurn("stop", result ? toUsage(readObject(result.usage)) : noUsage);
    for (const { callId } of this.#open.values()) {
      const error = { code: "CANCELLED", message: "the stream ended before this call", details: "" };
      this.#emit({ type: "tool_result", callId, status: "cancelled", output: "", error, durationMs: 0 });
    }
    this.#open.clear();
    this.#emit(toRunEnd(result));
    return this.#take();
  }

  #take(): RunEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #readText(text: string): void {
    let line: unknown;
    try {
      line = JSON.parse(text);
    } catch {
      // Counted below.
    }
    if (!isJsonObject(line)) {
      this.report.unparsable += 1;
      return;
    }
    this.report.lines += 1;
    this.#time = Math.max(this.#time, readCount(line.timestamp_ms) ?? 0);
    if (!this.#readLine(line)) this.report.others.push(line);
  }

  /** Returns false if the line became no event. */
  #readLine(line: JsonObject): boolean {
    switch (line.type) {
      case "system":
        if (line.subtype !== "init" || this.#init) return false;
        this.#init = line;
        return true;
      case "user":
        if (this.#prompt !== undefined || this.#isStarted) return false;
        this.#prompt = toText(line);
        return true;
      case "thinking":
        if (line.subtype === "delta") this.#inTurn({ type: "reasoning_delta", text: readString(line.text) });
        return true;
      case "assistant":
        this.#readAssistant(line);
        return true;
      case "tool_call":
        return this.#readToolCall(line);
      case "result":
        if (this.report.result) return false;
        this.report.result = line;
        return true;
      default:
        return false;
    }
  }

  /** A line with a time and no request is a delta; any other is a whole segment, which deltas may have preceded. */
  #readAssistant(line: JsonObject): void {
    const text = toText(line);
    if (line.timestamp_ms !== undefined && line.model_call_id === undefined) {
      this.#deltas += text;
      this.#inTurn({ type: "text_delta", text });
      return;
    }
    const shown = this.#deltas;
    this.#deltas = "";
    if (shown !== "" && !text.startsWith(shown)) this.report.differences += 1;
    const rest = text.startsWith(shown) ? text.slice(shown.length) : "";
    if (rest !== "") this.#inTurn({ type: "text_delta", text: rest });
  }

  #readToolCall(line: JsonObject): boolean {
    const id = readString(line.call_id);
    const { call, result } = readCall(readObject(line.tool_call));
    if (line.subtype === "started" && !this.#open.has(id)) {
      this.#startCall(id, call);
      return true;
    }
    if (line.subtype !== "completed") return false;
    // A stream joined late has results of calls that it never started.
    if (!this.#open.has(id)) this.#startCall(id, call);
    const open = this.#open.get(id)!;
    this.#open.delete(id);
    this.#deltas = "";
    this.#endTurn("tool_calls", noUsage);
    // Some versions have the arguments in one of the two lines only.
    const known = { ...open.call, args: { ...open.call.args, ...call.args } };
    this.#emit({
      type: "tool_result",
      callId: open.callId,
      ...readOutcome(known, result, this.#workspace),
      durationMs: 0,
    });
    return true;
  }

  /** Ids in the stream may be anything, so calls get ids of our own (C8, N29). */
  #startCall(id: string, call: NamedCall): void {
    this.#deltas = "";
    this.#calls += 1;
    const callId = `call_${String(this.#calls).padStart(3, "0")}`;
    const { toolName } = call;
    this.#open.set(id, { callId, call });
    this.#inTurn({
      type: "tool_call_start",
      callId,
      toolName,
      documentType: toDocumentType(toolName),
      providerCallId: id,
    });
    this.#inTurn({ type: "tool_call_arguments", callId, arguments: call.arguments });
  }

  get #workspace(): string {
    return readString(this.#init?.cwd) || (this.#options.workspace ?? "");
  }

  /** With the first line that is part of the answer: earlier ones have no time. */
  #start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const init = this.#init ?? {};
    const session = readString(init.session_id) || this.#options.newId();
    this.#emit({
      type: "run_start",
      responseId: `chat_${this.#options.newId()}`,
      conversationId: `conv_${session}`,
      mode: "agent",
      model: readString(init.model),
      modelName: readString(init.model),
      apiKeySource: "none",
      workspace: this.#workspace,
      permissionMode: "default",
      sandbox: "untried",
      trusted: false,
      sheafVersion: readString(init.sheaf_version),
      prompt: this.#prompt ?? "",
    });
  }

  #inTurn(event: RunEventBody): void {
    this.#start();
    if (!this.#isInTurn) {
      this.#isInTurn = true;
      this.#turn += 1;
      this.#emit({ type: "turn_start", turn: this.#turn });
    }
    this.#emit(event);
  }

  #endTurn(finishReason: TurnFinishReason, usage: Usage): void {
    if (!this.#isInTurn) return;
    this.#isInTurn = false;
    this.#emit({ type: "turn_end", finishReason, rawFinishReason: "", usage, modelMs: 0 });
  }

  #emit(body: RunEventBody): void {
    for (const event of this.#characters.push(body)) {
      this.#seq += 1;
      this.#events.push({ ...event, seq: this.#seq, time: this.#time });
    }
  }
}

function toText(line: JsonObject): string {
  const parts = readObjects(readObject(line.message).content);
  return parts.map((part) => (part.type === "text" ? readString(part.text) : "")).join("");
}

function toUsage(usage: JsonObject): Usage {
  const promptTokens = readCount(usage.inputTokens) ?? 0;
  const completionTokens = readCount(usage.outputTokens) ?? 0;
  const cachedPromptTokens = readCount(usage.cacheReadTokens);
  const cacheWriteTokens = readCount(usage.cacheWriteTokens);
  return {
    promptTokens,
    completionTokens,
    totalTokens: promptTokens + completionTokens,
    ...(cachedPromptTokens !== undefined && { cachedPromptTokens }),
    ...(cacheWriteTokens !== undefined && { cacheWriteTokens }),
  };
}

/** Without a `result` line the run was cut off (C22, N51). */
function toRunEnd(result: JsonObject | undefined): RunEnd {
  if (result?.subtype === "success") return { type: "run_end", reason: "end_turn" };
  if (result?.subtype === "needs_input") return { type: "run_end", reason: "clarification" };
  const { code, message, retryable } = readObject(result?.error);
  const cut = "The stream stopped before its result line: ask again.";
  return {
    type: "run_end",
    reason: "error",
    error: {
      code: readString(code) || "STREAM_TRUNCATED",
      message: readString(message) || cut,
      source: "agent",
      details: "",
      retryable: retryable === true || result === undefined,
    },
  };
}
