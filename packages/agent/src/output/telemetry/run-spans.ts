/** A run as spans and measurements of OpenTelemetry, by its conventions for generative AI: a function of the log (C67). */
import { hash } from "node:crypto";
import type { RunEvent, RunStart, ToolResult, Usage } from "@sheaf/protocol";

type AttributeValue = string | number | boolean | readonly string[] | undefined;
export type Attributes = Readonly<Record<string, AttributeValue>>;

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: "internal" | "client";
  /** Milliseconds since 1970. */
  readonly start: number;
  readonly end: number;
  readonly attributes: Attributes;
  /** A code of the closed table, or of a tool's error. */
  readonly error?: string | undefined;
}

/** One value of a histogram. */
export interface Measurement {
  readonly metric: "gen_ai.client.token.usage" | "gen_ai.client.operation.duration";
  readonly value: number;
  readonly attributes: Attributes;
}

interface RunTelemetry {
  readonly spans: readonly Span[];
  readonly measurements: readonly Measurement[];
}

export interface SpanOptions {
  /** The span around the run, if its caller has one. */
  readonly parent?: { readonly traceId: string; readonly spanId: string } | undefined;
  /** Texts, arguments and results are in the spans. */
  readonly capturesContent: boolean;
}

/** More are left out. */
const MAX_SPANS = 2000;

/** UTF-16 units of a text in a span. */
const MAX_CONTENT = 16_384;

interface Chat {
  readonly seq: number;
  readonly start: number;
  readonly end: number;
  readonly model?: string | undefined;
  readonly usage?: Usage;
  readonly finishReason?: string;
  readonly error?: string | undefined;
}

export interface SpanCollector {
  /** What the run was, with its last event; undefined before. */
  push(event: RunEvent): RunTelemetry | undefined;
}

export function createSpanCollector(options: SpanOptions): SpanCollector {
  return new Collector(options);
}

class Collector implements SpanCollector {
  readonly #options: SpanOptions;
  readonly #spans: Span[] = [];
  readonly #measurements: Measurement[] = [];
  readonly #calls = new Map<string, { readonly toolName: string; args: unknown }>();
  #start: (RunStart & { readonly time: number }) | undefined;
  #turn: { readonly seq: number; readonly time: number } | undefined;
  #failed: Chat | undefined;
  #text = "";
  #tokens = { input: 0, output: 0 };

  constructor(options: SpanOptions) {
    this.#options = options;
  }

  push(event: RunEvent): RunTelemetry | undefined {
    switch (event.type) {
      case "run_start":
        this.#start = event;
        return undefined;
      case "turn_start":
        this.#turn = event;
        this.#text = "";
        return undefined;
      case "text_delta":
        if (this.#options.capturesContent) this.#text += event.text;
        return undefined;
      case "tool_call_start":
        this.#calls.set(event.callId, { toolName: event.toolName, args: undefined });
        return undefined;
      case "tool_call_arguments": {
        const call = this.#calls.get(event.callId);
        if (call && this.#options.capturesContent) call.args = event.arguments;
        return undefined;
      }
      case "tool_result":
        this.#addTool(event);
        return undefined;
      case "turn_end": {
        const { usage, modelMs, model, finishReason } = event;
        const { seq, time } = this.#turn ?? event;
        // A turn ends with its calls; the model was done before.
        const end = Math.min(event.time, time + modelMs);
        const chat = { seq, start: time, end, model: model?.id, usage, finishReason };
        // Its code comes with the end of the run.
        if (finishReason === "error") this.#failed = chat;
        else this.#addChat(chat);
        this.#turn = undefined;
        return undefined;
      }
      case "compaction": {
        const { seq, time, modelMs, usage, model } = event;
        this.#addChat({ seq, start: time - modelMs, end: time, model: model?.id, usage, finishReason: "stop" });
        return undefined;
      }
      case "run_end": {
        const code = event.error?.code;
        if (this.#turn) this.#failed = { seq: this.#turn.seq, start: this.#turn.time, end: event.time };
        if (this.#failed) this.#addChat({ ...this.#failed, error: code });
        this.#addRun(event.time, event.reason, code);
        return { spans: this.#spans, measurements: this.#measurements };
      }
      default:
        return undefined;
    }
  }

  #addChat(chat: Chat): void {
    const { seq, start, end, usage, finishReason, error } = chat;
    const request = this.#start?.model ?? "";
    const model = chat.model ?? request;
    const common = {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": toProvider(model),
      "gen_ai.request.model": request,
      "gen_ai.response.model": model,
      "error.type": error,
    };
    const span = { seq, name: `chat ${model}`, kind: "client", start, end, error } as const;
    this.#add(span, {
      ...common,
      "gen_ai.usage.input_tokens": usage?.promptTokens,
      "gen_ai.usage.output_tokens": usage?.completionTokens,
      "gen_ai.usage.cache_read.input_tokens": usage?.cachedPromptTokens,
      "gen_ai.usage.cache_creation.input_tokens": usage?.cacheWriteTokens,
      "gen_ai.response.finish_reasons": finishReason === undefined ? undefined : [finishReason],
      "gen_ai.output.messages": this.#toMessages("assistant", this.#text),
    });
    this.#measure("gen_ai.client.operation.duration", (end - start) / 1000, common);
    if (!usage) return;
    this.#tokens.input += usage.promptTokens;
    this.#tokens.output += usage.completionTokens;
    this.#measure("gen_ai.client.token.usage", usage.promptTokens, { ...common, "gen_ai.token.type": "input" });
    this.#measure("gen_ai.client.token.usage", usage.completionTokens, { ...common, "gen_ai.token.type": "output" });
  }

  #addTool(result: ToolResult & { readonly seq: number; readonly time: number }): void {
    const { callId, status, error, seq, time, durationMs, output } = result;
    const { toolName = "", args } = this.#calls.get(callId) ?? {};
    this.#calls.delete(callId);
    const code = status === "success" ? undefined : (error?.code ?? status);
    const { capturesContent } = this.#options;
    const span = {
      seq,
      name: `execute_tool ${toolName}`,
      kind: "internal",
      start: time - durationMs,
      end: time,
    } as const;
    this.#add(
      { ...span, error: code },
      {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": toolName,
        "gen_ai.tool.call.id": callId,
        "gen_ai.tool.type": "function",
        "error.type": code,
        "gen_ai.tool.call.arguments": capturesContent ? toContent(JSON.stringify(args ?? {})) : undefined,
        "gen_ai.tool.call.result": capturesContent ? toContent(output) : undefined,
      },
    );
  }

  #addRun(end: number, reason: string, error: string | undefined): void {
    const run = this.#start;
    if (!run) return;
    const span = { name: "invoke_agent sheaf", kind: "internal", start: run.time, end, error } as const;
    this.#spans.push({
      ...span,
      traceId: this.#traceId,
      spanId: this.#rootId,
      parentSpanId: this.#options.parent?.spanId ?? "",
      attributes: {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": toProvider(run.model),
        "gen_ai.agent.name": "sheaf",
        "gen_ai.agent.version": run.sheafVersion,
        "gen_ai.conversation.id": run.conversationId,
        "gen_ai.response.id": run.responseId,
        "gen_ai.request.model": run.model,
        "gen_ai.response.finish_reasons": [reason],
        "gen_ai.usage.input_tokens": this.#tokens.input,
        "gen_ai.usage.output_tokens": this.#tokens.output,
        "error.type": error,
        "sheaf.mode": run.mode,
        "gen_ai.input.messages": this.#toMessages("user", run.prompt),
        "gen_ai.output.messages": this.#toMessages("assistant", this.#text),
      },
    });
  }

  #add(
    { seq, ...span }: Omit<Span, "traceId" | "spanId" | "parentSpanId" | "attributes"> & { seq: number },
    attributes: Attributes,
  ): void {
    if (this.#spans.length >= MAX_SPANS - 1) return;
    const ids = { traceId: this.#traceId, spanId: this.#toSpanId(seq), parentSpanId: this.#rootId };
    this.#spans.push({ ...span, ...ids, attributes });
  }

  #measure(metric: Measurement["metric"], value: number, attributes: Attributes): void {
    this.#measurements.push({ metric, value, attributes });
  }

  #toMessages(role: string, text: string): string | undefined {
    if (!this.#options.capturesContent) return undefined;
    return JSON.stringify([{ role, parts: [{ type: "text", content: toContent(text) }] }]);
  }

  /** Of a response: its UUID. */
  get #traceId(): string {
    return this.#options.parent?.traceId ?? (this.#start?.responseId ?? "").replaceAll(/^[a-z]+_|-/g, "");
  }

  get #rootId(): string {
    return this.#toSpanId(0);
  }

  #toSpanId(seq: number): string {
    return hash("sha256", `${this.#start?.responseId}:${seq}`, "hex").slice(0, 16);
  }
}

function toContent(text: string): string {
  return text.slice(0, MAX_CONTENT).toWellFormed();
}

const providers: readonly (readonly [RegExp, string])[] = [
  [/^claude/, "anthropic"],
  [/^(gpt|o\d|codex)/, "openai"],
  [/^gemini/, "gcp.gemini"],
  [/^mistral|^codestral|^devstral/, "mistral_ai"],
  [/^deepseek/, "deepseek"],
  [/^grok/, "x_ai"],
];

/** As the conventions name it, from the id of the model; the word before `/` or `:` of others. */
function toProvider(model: string): string {
  const name = model.slice(model.lastIndexOf("/") + 1);
  return providers.find(([pattern]) => pattern.test(name))?.[1] ?? /^[^/:]*/.exec(model)?.[0] ?? "";
}
