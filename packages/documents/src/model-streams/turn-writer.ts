import type { ModelEvent, TurnEnd } from "@sheaf/protocol";
import { isHighSurrogate } from "../characters.ts";
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
  /** What the provider wants back becomes an event at this place. */
  addProviderData(data: JsonObject, callId?: string): void;
  /** `error` as the payload holds it: an object or a text. */
  addError(error: unknown, payload: JsonObject): void;
  addRestart(): void;
  /** `isBroken`: it was meant to be JSON, and is none. */
  countPayload(isParsable: boolean, isBroken: boolean): void;
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

/** Knows one wire protocol: reads its payloads, in order, into a turn. Keeps what it must remember between them. */
export interface PayloadReader {
  /** `event` = name of the event that brought the payload, or "". */
  read(payload: JsonObject, event: string): void;
  /** The body has ended; for what must be done then, before the turn ends. */
  end?(): void;
}

export type CreatePayloadReader = (turn: TurnWriter) => PayloadReader;

export interface TurnWriterOptions {
  readonly newCallId: () => string;
  /** Who can read what the provider wants back. */
  readonly origin: string;
  readonly toUsage: ToUsage;
}

export function createTurnWriter(options: TurnWriterOptions): TurnWriter {
  return new ReportingTurnWriter(options);
}

class ReportingTurnWriter implements TurnWriter {
  readonly report = createModelStreamReport();
  readonly #options: TurnWriterOptions;
  readonly #queue = createEventQueue();
  readonly #toolCalls: ToolCallWriter[] = [];
  readonly #endMarkers = new Set<string>();
  #isEnded = false;

  constructor(options: TurnWriterOptions) {
    this.#options = options;
  }

  append(kind: TextKind, text: string): void {
    if (this.#isEnded) return;
    if (kind === "refusal") this.report.refusal += text;
    else this.#queue.pushDelta(kind === "text" ? "text_delta" : "reasoning_delta", text);
  }

  createToolCall(input: ToolInput): ToolCallWriter {
    const toolCall = createToolCallWriter({
      input,
      newCallId: this.#options.newCallId,
      emit: (event) => this.#emit(event),
    });
    this.#toolCalls.push(toolCall);
    return toolCall;
  }

  addServerItem(item: ServerItem): void {
    this.report.serverItems.push(item);
  }

  addSignature(signature: unknown, callId?: string): void {
    const value = readString(signature);
    if (value !== "") this.report.signatures.push(callId === undefined ? { value } : { callId, value });
  }

  addProviderData(data: JsonObject, callId?: string): void {
    const { origin } = this.#options;
    this.#emit({ type: "provider_data", origin, ...(callId !== undefined && { callId }), data });
  }

  addError(error: unknown, payload: JsonObject): void {
    this.report.errors.push(toProviderError(error, payload));
  }

  addRestart(): void {
    this.report.restarts += 1;
  }

  countPayload(isParsable: boolean, isBroken: boolean): void {
    this.report[isParsable ? "payloads" : "unparsable"] += 1;
    const { finish, ended } = this.report;
    if (isBroken && (finish ?? ended) === null) this.report.broken += 1;
  }

  identify(responseId: unknown, model: unknown): void {
    this.report.responseId ??= readString(responseId) || null;
    this.report.model ??= readString(model) || null;
  }

  setFinish(word: unknown): void {
    this.report.finish = readString(word) || this.report.finish;
  }

  setUsage(usage: unknown): void {
    if (isJsonObject(usage)) this.report.usage = usage;
  }

  addEnd(marker: string): void {
    this.#endMarkers.add(marker);
    this.report.ended = [...this.#endMarkers].join(" + ");
  }

  endTurn(): void {
    for (const toolCall of this.#toolCalls) toolCall.end();
    this.#emit(this.#toTurnEnd());
    this.#isEnded = true;
  }

  takeEvents(): ModelEvent[] {
    return this.#queue.take();
  }

  #emit(event: ModelEvent): void {
    if (!this.#isEnded) this.#queue.push(event);
  }

  #toTurnEnd(): TurnEnd {
    const { finish, errors, refusal, usage } = this.report;
    return {
      type: "turn_end",
      finishReason: toFinishReason({
        finish,
        hasErrors: errors.length > 0,
        hasRefusal: refusal !== "",
        hasToolCalls: this.#toolCalls.some((toolCall) => toolCall.callId !== undefined),
      }),
      rawFinishReason: finish ?? "",
      usage: usage === null ? unknownUsage : this.#options.toUsage(usage),
      modelMs: 0,
    };
  }
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

/** Events of one turn that wait to be taken. */
interface EventQueue {
  push(event: ModelEvent): void;
  /** Adds text or reasoning; "" adds nothing. */
  pushDelta(type: DeltaType, text: string): void;
  /** The events since the last time. */
  take(): ModelEvent[];
}

type DeltaType = "text_delta" | "reasoning_delta";

/**
 * No event holds half a character: the first half of a surrogate pair at the end of a delta waits for the next one.
 * Some providers cut their deltas there, and half a character cannot be written as UTF-8.
 */
function createEventQueue(): EventQueue {
  let events: ModelEvent[] = [];
  let held: { readonly type: DeltaType; readonly text: string } | undefined;

  function releaseHeld(): void {
    if (held !== undefined) events.push(held);
    held = undefined;
  }

  return {
    push(event) {
      // It stands between two pieces of one text, as far as a reader of the text can tell.
      if (event.type !== "provider_data") releaseHeld();
      events.push(event);
    },
    pushDelta(type, text) {
      if (text === "") return;
      if (held?.type !== type) releaseHeld();
      const whole = (held?.text ?? "") + text;
      const length = isHighSurrogate(whole.charCodeAt(whole.length - 1)) ? whole.length - 1 : whole.length;
      held = length < whole.length ? { type, text: whole.slice(length) } : undefined;
      if (length > 0) events.push({ type, text: whole.slice(0, length) });
    },
    take() {
      const taken = events;
      events = [];
      return taken;
    },
  };
}
