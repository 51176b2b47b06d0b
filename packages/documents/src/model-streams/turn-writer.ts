import type { ModelEvent, TurnEnd, TurnFinishReason } from "@sheaf/protocol";
import { createWholeCharacters } from "../whole-characters.ts";
import { toFinishReason } from "./finish-reason.ts";
import { createModelStreamReport, type ModelStreamReport, type ServerItem } from "./model-stream-report.ts";
import { isJsonObject, readFirstString, readString, type JsonObject } from "./read-json.ts";
import { createServerCall, searchName, type ServerCall } from "./server-call.ts";
import { createThoughtReader } from "./thought-reader.ts";
import { createToolCallWriter, type ToolCallWriter, type ToolInput } from "./tool-call-writer.ts";
import { unknownUsage, type ToUsage } from "./usage.ts";

export type TextKind = "text" | "reasoning" | "refusal";

/** Turns the findings of a protocol's reader into the events and the report of one turn. */
export interface TurnWriter {
  /** Appends a text. Text and reasoning become events; a refusal becomes part of the report. */
  append(kind: TextKind, text: string): void;
  createToolCall(input: ToolInput): ToolCallWriter;
  /** Creates a call that the provider runs itself (N69). */
  createServerCall(toolName: string, providerCallId: unknown): ServerCall;
  /** Adds sources that the text cites: objects with `url` and `title`. Without a search, the turn ends with one. */
  addSources(sources: readonly JsonObject[]): void;
  /** Adds an item, which the caller may still change. */
  addServerItem(item: ServerItem): void;
  /** Adds a part that the reader of the protocol does not know. */
  addOther(part: JsonObject): void;
  addSignature(value: unknown, callId?: string): void;
  /** Adds an event with data that the provider requires in the next request. */
  addProviderData(data: JsonObject, callId?: string): void;
  /** Adds an error as in the payload: an object or a text. */
  addError(error: unknown, payload: JsonObject): void;
  addRestart(): void;
  /** Adds a payload to the report's numbers. `isBroken`: it should be JSON, but is not. */
  countPayload(isParsable: boolean, isBroken: boolean): void;
  /** Sets id and model of the answer, unless they are known. */
  identify(responseId: unknown, model: unknown): void;
  /**
   * Sets the provider's reason why the answer ended. The last one applies; anything but a string is ignored. `meaning`
   * is for a word with another meaning elsewhere.
   */
  setFinish(word: unknown, meaning?: TurnFinishReason): void;
  /** Sets the usage. The last object applies; anything else is ignored. */
  setUsage(usage: unknown): void;
  /** Records an end marker. */
  addEnd(marker: string): void;
  /** Ends the open calls, then the turn. Later calls have no effect. */
  endTurn(): void;
  /** Returns the events since the last call. */
  takeEvents(): ModelEvent[];
  readonly report: ModelStreamReport;
}

/** Reads the payloads of one wire protocol, in order, into a turn. */
export interface PayloadReader {
  /** Reads a payload. `event` is the name of its event, or "". */
  read(payload: JsonObject, event: string): void;
  /** Called when the body has ended, before the turn ends. */
  end?(): void;
}

export type CreatePayloadReader = (turn: TurnWriter) => PayloadReader;

export interface TurnWriterOptions {
  readonly newCallId: () => string;
  /** The readers of `provider_data`. */
  readonly origin: string;
  readonly toUsage: ToUsage;
}

export function createTurnWriter(options: TurnWriterOptions): TurnWriter {
  return new ReportingTurnWriter(options);
}

class ReportingTurnWriter implements TurnWriter {
  readonly report = createModelStreamReport();
  readonly #options: TurnWriterOptions;
  readonly #characters = createWholeCharacters<ModelEvent>();
  readonly #readThoughts = createThoughtReader();
  #events: ModelEvent[] = [];
  readonly #toolCalls: ToolCallWriter[] = [];
  readonly #serverCalls: ServerCall[] = [];
  #sources: JsonObject[] = [];
  #hasSearch = false;
  readonly #endMarkers = new Set<string>();
  #meaning: TurnFinishReason | undefined;
  #isEnded = false;

  constructor(options: TurnWriterOptions) {
    this.#options = options;
  }

  append(kind: TextKind, text: string): void {
    if (this.#isEnded) return;
    if (kind === "refusal") this.report.refusal += text;
    else if (text !== "") this.#emit({ type: kind === "text" ? "text_delta" : "reasoning_delta", text });
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

  createServerCall(toolName: string, providerCallId: unknown): ServerCall {
    const { newCallId } = this.#options;
    this.#hasSearch ||= toolName === searchName;
    const call = createServerCall(toolName, providerCallId, { newCallId, emit: (event) => this.#emit(event) });
    this.#serverCalls.push(call);
    return call;
  }

  addSources(sources: readonly JsonObject[]): void {
    this.#sources.push(...sources);
  }

  addServerItem(item: ServerItem): void {
    this.report.serverItems.push(item);
  }

  addOther(part: JsonObject): void {
    this.report.others.push(part);
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

  setFinish(word: unknown, meaning?: TurnFinishReason): void {
    if (readString(word) === "") return;
    this.report.finish = readString(word);
    this.#meaning = meaning;
  }

  setUsage(usage: unknown): void {
    if (isJsonObject(usage)) this.report.usage = usage;
  }

  addEnd(marker: string): void {
    this.#endMarkers.add(marker);
    this.report.ended = [...this.#endMarkers].join(" + ");
  }

  endTurn(): void {
    this.report.isWhole = (this.report.ended ?? this.report.finish) !== null;
    if (this.#sources.length > 0 && !this.#hasSearch) this.createServerCall(searchName, "").end(this.#sources);
    for (const call of [...this.#toolCalls, ...this.#serverCalls]) call.end();
    this.#emit(this.#toTurnEnd());
    this.#isEnded = true;
  }

  takeEvents(): ModelEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #emit(event: ModelEvent): void {
    if (this.#isEnded) return;
    for (const known of this.#readThoughts(event)) this.#events.push(...this.#characters.push(known));
  }

  #toTurnEnd(): TurnEnd {
    const { finish, errors, refusal, usage } = this.report;
    return {
      type: "turn_end",
      finishReason: toFinishReason({
        finish,
        ...(this.#meaning && { meaning: this.#meaning }),
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
