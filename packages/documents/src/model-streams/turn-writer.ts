import type { ModelEvent } from "@sheaf/protocol";
import { toFinishReason } from "./finish-reason.ts";
import { createModelStreamReport, type ModelStreamReport, type ServerItem } from "./model-stream-report.ts";
import { isJsonObject, readFirstString, readString, type JsonObject } from "./read-json.ts";
import { createToolCallWriter, type ToolCallWriter, type ToolInput } from "./tool-call-writer.ts";
import { unknownUsage, type ToUsage } from "./usage.ts";

export type TextKind = "text" | "reasoning" | "refusal";

/** Takes what a protocol's reader finds and makes the events of one turn and the report of it. */
export interface TurnWriter {
  /** Text and reasoning become events, a refusal stands in the report. */
  append(kind: TextKind, text: string): void;
  createToolCall(input: ToolInput): ToolCallWriter;
  /** The item may be filled further by the caller. */
  addServerItem(item: ServerItem): void;
  addSignature(value: unknown, callId?: string): void;
  /** `error` as the payload holds it: an object or a text. */
  addError(error: unknown, payload: JsonObject): void;
  addRestart(): void;
  countPayload(isParsable: boolean): void;
  /** Id and model of the answer; the first ones count. */
  identify(responseId: unknown, model: unknown): void;
  /** The provider's word for why the answer ended; the last one counts, anything but a text is ignored. */
  setFinish(word: unknown): void;
  /** The last object counts; anything else is ignored. */
  setUsage(usage: unknown): void;
  /** An end marker was seen. */
  addEnd(marker: string): void;
  /** Ends the calls that are open, then the turn. Later calls do nothing. */
  endTurn(): void;
  /** The events since the last time. */
  takeEvents(): ModelEvent[];
  readonly report: ModelStreamReport;
}

export interface TurnWriterOptions {
  readonly newCallId: () => string;
  readonly toUsage: ToUsage;
}

type DeltaType = "text_delta" | "reasoning_delta";

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

export function createTurnWriter({ newCallId, toUsage }: TurnWriterOptions): TurnWriter {
  const report = createModelStreamReport();
  const toolCalls: ToolCallWriter[] = [];
  const endMarkers = new Set<string>();
  let events: ModelEvent[] = [];
  /** First half of a character whose second half the next delta brings: no event holds half a character. */
  let held: { readonly type: DeltaType; readonly text: string } | undefined;
  let isEnded = false;

  function releaseHeld(): void {
    if (held !== undefined) events.push(held);
    held = undefined;
  }

  function emit(event: ModelEvent): void {
    if (isEnded) return;
    releaseHeld();
    events.push(event);
  }

  function emitDelta(type: DeltaType, text: string): void {
    if (text === "" || isEnded) return;
    if (held !== undefined && held.type !== type) releaseHeld();
    const whole = (held?.text ?? "") + text;
    held = undefined;
    const length = isHighSurrogate(whole.charCodeAt(whole.length - 1)) ? whole.length - 1 : whole.length;
    if (length > 0) emit({ type, text: whole.slice(0, length) });
    if (length < whole.length) held = { type, text: whole.slice(length) };
  }

  function endTurn(): void {
    if (isEnded) return;
    for (const toolCall of toolCalls) toolCall.end();
    emit({
      type: "turn_end",
      finishReason: toFinishReason({
        finish: report.finish,
        hasErrors: report.errors.length > 0,
        hasRefusal: report.refusal !== "",
        hasToolCalls: toolCalls.some((toolCall) => toolCall.callId !== undefined),
      }),
      rawFinishReason: report.finish ?? "",
      usage: report.usage === null ? unknownUsage : toUsage(report.usage),
      modelMs: 0,
    });
    isEnded = true;
  }

  return {
    append(kind, text) {
      if (kind === "refusal") report.refusal += text;
      else emitDelta(kind === "text" ? "text_delta" : "reasoning_delta", text);
    },
    createToolCall(input) {
      const toolCall = createToolCallWriter({ input, newCallId, emit });
      toolCalls.push(toolCall);
      return toolCall;
    },
    addServerItem: (item) => void report.serverItems.push(item),
    addSignature(signature, callId) {
      const value = readString(signature);
      if (value !== "") report.signatures.push(callId === undefined ? { value } : { callId, value });
    },
    addError: (error, payload) => void report.errors.push(toProviderError(error, payload)),
    addRestart() {
      report.restarts += 1;
    },
    countPayload(isParsable) {
      report[isParsable ? "payloads" : "unparsable"] += 1;
    },
    identify(responseId, model) {
      report.responseId ??= readString(responseId) || null;
      report.model ??= readString(model) || null;
    },
    setFinish(word) {
      report.finish = readString(word) || report.finish;
    },
    setUsage(usage) {
      if (isJsonObject(usage)) report.usage = usage;
    },
    addEnd(marker) {
      endMarkers.add(marker);
      report.ended = [...endMarkers].join(" + ");
    },
    endTurn,
    takeEvents() {
      const taken = events;
      events = [];
      return taken;
    },
    report,
  };
}

function toProviderError(error: unknown, payload: JsonObject): ModelStreamReport["errors"][number] {
  if (!isJsonObject(error)) {
    return { code: readString(payload.code), type: "", message: readString(error), raw: payload };
  }
  const code = typeof error.code === "number" ? String(error.code) : error.code;
  return {
    code: readFirstString(code, error.status, error.type),
    type: readString(error.type),
    message: readString(error.message),
    raw: error,
  };
}
