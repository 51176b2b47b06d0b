/** Reads stream parts of the AI SDK's `LanguageModel` interface, versions 2 to 4, as events of one turn. */
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { createTurnWriter, type ToolCallWriter } from "@sheaf/documents/model-streams";
import type { ModelEvent, Usage } from "@sheaf/protocol";

/** Reads the parts of one answer. Skips unknown parts. */
export interface PartReader {
  push(part: LanguageModelV4StreamPart): readonly ModelEvent[];
  /** Ends the stream. Returns the last events; the very last is `turn_end`. */
  end(): readonly ModelEvent[];
  /** True if later parts are ignored: the answer has its finish, or an error. */
  readonly hasEnded: boolean;
  /** The interface's word for the end; undefined before it arrives. */
  readonly finish: string | undefined;
  /** An error that the provider or the package reported in the stream. */
  readonly error: { readonly value: unknown } | undefined;
}

export interface PartReaderOptions {
  readonly newCallId: () => string;
  readonly origin: string;
}

export function createPartReader(options: PartReaderOptions): PartReader {
  return new StreamPartReader(options);
}

/** Words of the interface that differ from the words in the table of finish reasons. */
const finishWords: Readonly<Record<string, string>> = {
  "content-filter": "content_filter",
  "tool-calls": "tool_calls",
};

type Metadata = Readonly<Record<string, unknown>> | undefined;

class StreamPartReader implements PartReader {
  finish: string | undefined;
  error: { readonly value: unknown } | undefined;
  #rawFinish = "";
  readonly #turn: ReturnType<typeof createTurnWriter>;
  readonly #calls = new Map<string, ToolCallWriter>();
  /** Calls that the provider runs itself. */
  readonly #foreignCalls = new Set<string>();
  /** Calls whose input is free text. */
  readonly #textCalls = new Set<string>();
  readonly #reasoning = new Map<string, { text: string; metadata: Metadata }>();

  constructor(options: PartReaderOptions) {
    this.#turn = createTurnWriter({ ...options, toUsage: toPackageUsage });
  }

  get hasEnded(): boolean {
    return this.finish !== undefined || this.error !== undefined;
  }

  push(part: LanguageModelV4StreamPart): readonly ModelEvent[] {
    this.#read(part);
    return this.#turn.takeEvents();
  }

  end(): readonly ModelEvent[] {
    this.#turn.endTurn();
    return this.#turn
      .takeEvents()
      .map((event) => (event.type === "turn_end" ? { ...event, rawFinishReason: this.#rawFinish } : event));
  }

  #read(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case "text-delta":
        return this.#turn.append("text", part.delta);
      case "text-end":
        return this.#addMetadata({ part: "text" }, part.providerMetadata);
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        return this.#readReasoning(part);
      case "tool-input-start":
        return this.#startCall(part);
      case "tool-input-delta":
        // Pieces of free text are not JSON; the call contains the whole text.
        if (!this.#textCalls.has(part.id)) this.#calls.get(part.id)?.append(part.delta);
        return;
      case "tool-call":
        return this.#endCall(part);
      case "error":
        this.error = { value: part.error };
        return;
      case "finish":
        return this.#readFinish(part);
      default:
    }
  }

  #readReasoning(part: Extract<LanguageModelV4StreamPart, { type: `reasoning-${"start" | "delta" | "end"}` }>): void {
    const known = this.#reasoning.get(part.id) ?? { text: "", metadata: undefined };
    this.#reasoning.set(part.id, known);
    if (part.providerMetadata) known.metadata = mergeMetadata(known.metadata, part.providerMetadata);
    if (part.type === "reasoning-delta") {
      known.text += part.delta;
      this.#turn.append("reasoning", part.delta);
    }
    if (part.type !== "reasoning-end") return;
    this.#reasoning.delete(part.id);
    this.#addMetadata({ part: "reasoning", text: known.text }, known.metadata);
  }

  #startCall(part: Extract<LanguageModelV4StreamPart, { type: "tool-input-start" }>): void {
    if (part.providerExecuted === true) return void this.#foreignCalls.add(part.id);
    const call = this.#turn.createToolCall("json");
    call.describe(part.id, part.toolName);
    this.#calls.set(part.id, call);
    if (part.inputEncoding === "text") this.#textCalls.add(part.id);
  }

  #endCall(part: Extract<LanguageModelV4StreamPart, { type: "tool-call" }>): void {
    const { toolCallId, toolName, input, providerMetadata, providerExecuted } = part;
    if (providerExecuted === true || this.#foreignCalls.has(toolCallId)) {
      return this.#turn.addServerItem({ type: "tool-call", id: toolCallId, name: toolName });
    }
    const call = this.#calls.get(toolCallId) ?? this.#turn.createToolCall("json");
    call.describe(toolCallId, toolName);
    call.end(typeof input === "string" ? input : JSON.stringify(input));
    this.#calls.delete(toolCallId);
    if (call.callId !== undefined) this.#addMetadata({}, providerMetadata, call.callId);
  }

  /** Reads the finish. Versions 2 and 3 contain the word alone. */
  #readFinish({ finishReason, usage }: Extract<LanguageModelV4StreamPart, { type: "finish" }>): void {
    const reason: { readonly unified?: unknown; readonly raw?: unknown } =
      typeof finishReason === "object" ? finishReason : { unified: finishReason };
    this.finish = typeof reason.unified === "string" ? reason.unified : "other";
    this.#rawFinish = typeof reason.raw === "string" ? reason.raw : this.finish;
    this.#turn.setFinish(this.finish === "other" ? this.#rawFinish : (finishWords[this.finish] ?? this.finish));
    this.#turn.setUsage(usage);
    this.#turn.addEnd("finish");
  }

  #addMetadata(data: Readonly<Record<string, unknown>>, metadata: Metadata, callId?: string): void {
    if (metadata && Object.keys(metadata).length > 0) {
      this.#turn.addProviderData({ ...data, providerMetadata: metadata }, callId);
    }
  }
}

/** Merges the metadata of start, pieces and end of a block, by provider. */
function mergeMetadata(first: Metadata, second: Readonly<Record<string, unknown>>): Metadata {
  const merged: Record<string, unknown> = { ...first };
  for (const [provider, fields] of Object.entries(second)) {
    merged[provider] = { ...(merged[provider] as object | undefined), ...(fields as object) };
  }
  return merged;
}

type Fields = Readonly<Record<string, unknown>>;

/** Returns the usage of a turn (N6): numbers in version 2 of the interface, objects since then. */
function toPackageUsage(raw: Fields): Usage {
  const { inputTokens: input, outputTokens: output } = raw;
  const promptTokens = toCount(isFields(input) ? input["total"] : input);
  const completionTokens = toCount(isFields(output) ? output["total"] : output);
  if (promptTokens === undefined && completionTokens === undefined) {
    return { promptTokens: 0, completionTokens: 0, totalTokens: 0, estimated: true };
  }
  const reasoning = toCount(isFields(output) ? output["reasoning"] : raw["reasoningTokens"]);
  const cached = toCount(isFields(input) ? input["cacheRead"] : raw["cachedInputTokens"]);
  const cacheWrite = isFields(input) ? toCount(input["cacheWrite"]) : undefined;
  return {
    promptTokens: promptTokens ?? 0,
    completionTokens: completionTokens ?? 0,
    totalTokens: (promptTokens ?? 0) + (completionTokens ?? 0),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
    ...(cached !== undefined && { cachedPromptTokens: cached }),
    ...(cacheWrite !== undefined && { cacheWriteTokens: cacheWrite }),
  };
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

function toCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}
