/** A run as spans and measurements of OpenTelemetry, by its conventions for generative AI: a function of the log (C67). */
import { toEndedRequest } from "@sheaf/protocol/cost";
import { hash } from "node:crypto";
import type { RunEvent, RunStart, ToolResult, Usage } from "@sheaf/protocol";
import type { TelemetrySettings } from "../../config/telemetry-settings.ts";

export type Attributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** A span. `error.type` of its attributes is a code of the closed table, or of a tool's error. */
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
}

/** One value of a histogram. */
export interface Measurement {
  readonly metric:
    | `gen_ai.${"client.operation" | "execute_tool" | "invoke_agent"}.duration`
    | "gen_ai.client.token.usage";
  readonly value: number;
  readonly attributes: Attributes;
}

type SpanOptions = Pick<TelemetrySettings, "parent" | "capturesContent">;

const MAX_SPANS = 2000;

/** UTF-16 units of a text in a span. */
const MAX_CONTENT = 16_384;

type Moment = Readonly<Record<"seq" | "time", number>>;

/** `seq`: number of an event; 0 for the run. */
type Extent = Pick<Span, "start" | "end"> & { readonly seq: number };

interface Chat extends Extent {
  readonly model?: string | undefined;
  readonly usage?: Usage;
  readonly finishReason?: string;
  readonly error?: string | undefined;
}

interface Ended {
  readonly spans: Span[];
  readonly measurements: Measurement[];
}

/** Collects the events of a run. Returns each span once it has ended: the run's with the last event. */
export class SpanCollector {
  #ended: Ended = { spans: [], measurements: [] };
  #count = 0;
  readonly #options: SpanOptions;
  readonly #calls = new Map<string, { readonly toolName: string; args?: unknown }>();
  #start: (RunStart & Moment) | undefined;
  #turn: Moment | undefined;
  #failed: Chat | undefined;
  #text = "";
  #tokens = { input: 0, output: 0 };

  constructor(options: SpanOptions) {
    this.#options = options;
  }

  /** Returns the spans and measurements that have ended since the last call. */
  take(): Ended {
    const ended = this.#ended;
    this.#ended = { spans: [], measurements: [] };
    return ended;
  }

  push(event: RunEvent): void {
    switch (event.type) {
      case "run_start":
        this.#start = event;
        break;
      case "turn_start":
        this.#turn = event;
        this.#text = "";
        break;
      case "text_delta":
        if (this.#options.capturesContent) this.#text += event.text;
        break;
      case "tool_call_start":
        this.#calls.set(event.callId, { toolName: event.toolName });
        break;
      case "tool_call_arguments": {
        const call = this.#calls.get(event.callId);
        if (call && this.#options.capturesContent) call.args = event.arguments;
        break;
      }
      case "tool_result":
        this.#addTool(event);
        break;
      case "turn_end": {
        const { usage, modelMs, model, finishReason } = event;
        const { seq, time } = this.#turn ?? event;
        // A turn ends with its calls; the model was done before.
        const end = Math.min(event.time, time + modelMs);
        const chat = { seq, start: time, end, model: model?.id, usage, finishReason };
        // The end of the run has its code.
        if (finishReason === "error") this.#failed = chat;
        else this.#addChat(chat);
        this.#turn = undefined;
        break;
      }
      case "agent_event": {
        const ended = toEndedRequest(event);
        if (!ended) break;
        const { modelMs, usage, model } = ended;
        const { seq, time } = event;
        this.#addChat({ seq, start: time - modelMs, end: time, model: model?.id, usage });
        break;
      }
      case "compaction": {
        const { seq, time, modelMs, usage, model } = event;
        this.#addChat({ seq, start: time - modelMs, end: time, model: model?.id, usage, finishReason: "stop" });
        break;
      }
      case "run_end": {
        const error = event.error?.code;
        if (this.#turn) this.#failed = { seq: this.#turn.seq, start: this.#turn.time, end: event.time };
        if (this.#failed) this.#addChat({ ...this.#failed, error });
        if (this.#start) this.#addRun(this.#start, event.time, event.reason, error);
        break;
      }
      default:
    }
  }

  #addChat(chat: Chat): void {
    const { usage, finishReason } = chat;
    const request = this.#start?.model ?? "";
    const model = chat.model ?? request;
    const common = {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": toProvider(model),
      "gen_ai.request.model": request,
      "gen_ai.response.model": model,
      "error.type": chat.error,
    };
    this.#add(`chat ${model}`, chat, {
      ...common,
      "gen_ai.request.stream": true,
      "gen_ai.usage.input_tokens": usage?.promptTokens,
      "gen_ai.usage.output_tokens": usage?.completionTokens,
      "gen_ai.usage.reasoning.output_tokens": usage?.reasoningTokens,
      "gen_ai.usage.cache_read.input_tokens": usage?.cachedPromptTokens,
      "gen_ai.usage.cache_creation.input_tokens": usage?.cacheWriteTokens,
      "gen_ai.response.finish_reasons": finishReason === undefined ? undefined : [finishReason],
      "gen_ai.output.messages": this.#toMessages("assistant", this.#text),
    });
    this.#measure("gen_ai.client.operation.duration", chat, common);
    if (!usage) return;
    const values = { input: usage.promptTokens, output: usage.completionTokens };
    for (const type of ["input", "output"] as const) {
      this.#tokens[type] += values[type];
      const attributes = { ...common, "gen_ai.token.type": type };
      this.#ended.measurements.push({ metric: "gen_ai.client.token.usage", value: values[type], attributes });
    }
  }

  #addTool({ callId, status, error, seq, time, durationMs, output }: ToolResult & Moment): void {
    const { toolName = "", args = {} } = this.#calls.get(callId) ?? {};
    this.#calls.delete(callId);
    const extent = { seq, start: time - durationMs, end: time };
    const common = {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": toolName,
      "error.type": status === "success" ? undefined : (error?.code ?? status),
    };
    this.#measure("gen_ai.execute_tool.duration", extent, common);
    this.#add(`execute_tool ${toolName}`, extent, {
      ...common,
      "gen_ai.tool.call.id": callId,
      "gen_ai.tool.type": "function",
      "gen_ai.tool.call.arguments": this.#toContent(JSON.stringify(args)),
      "gen_ai.tool.call.result": this.#toContent(output),
    });
  }

  #addRun(run: RunStart & Moment, end: number, reason: string, error: string | undefined): void {
    const extent = { seq: 0, start: run.time, end };
    const common = {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.provider.name": toProvider(run.model),
      "gen_ai.agent.name": "sheaf",
      "error.type": error,
    };
    this.#measure("gen_ai.invoke_agent.duration", extent, common);
    this.#add("invoke_agent sheaf", extent, {
      ...common,
      "gen_ai.agent.version": run.sheafVersion,
      "gen_ai.conversation.id": run.conversationId,
      "gen_ai.response.id": run.responseId,
      "gen_ai.request.model": run.model,
      "gen_ai.response.finish_reasons": [reason],
      "gen_ai.usage.input_tokens": this.#tokens.input,
      "gen_ai.usage.output_tokens": this.#tokens.output,
      "sheaf.mode": run.mode,
      ...Object.fromEntries(Object.entries(run.labels ?? {}).map(([key, value]) => [`sheaf.label.${key}`, value])),
      "gen_ai.input.messages": this.#toMessages("user", run.prompt),
      "gen_ai.output.messages": this.#toMessages("assistant", this.#text),
    });
  }

  #measure(metric: Measurement["metric"], { start, end }: Extent, attributes: Attributes): void {
    this.#ended.measurements.push({ metric, value: Math.max(0, end - start) / 1000, attributes });
  }

  #add(name: string, { seq, start, end }: Extent, attributes: Attributes): void {
    const isRun = seq === 0;
    if (!isRun && (this.#count += 1) >= MAX_SPANS) return;
    const { parent } = this.#options;
    const { responseId = "" } = this.#start ?? {};
    const toSpanId = (number: number): string => hash("sha256", `${responseId}:${number}`, "hex").slice(0, 16);
    this.#ended.spans.push({
      // The UUID of the response.
      traceId: parent?.traceId ?? responseId.replaceAll(/^[a-z]+_|-/g, ""),
      spanId: toSpanId(seq),
      parentSpanId: isRun ? (parent?.spanId ?? "") : toSpanId(0),
      name,
      kind: name.startsWith("chat ") ? "client" : "internal",
      start,
      end,
      attributes,
    });
  }

  #toMessages(role: string, text: string): string | undefined {
    const content = this.#toContent(text);
    return content === undefined ? undefined : JSON.stringify([{ role, parts: [{ type: "text", content }] }]);
  }

  #toContent(text: string): string | undefined {
    return this.#options.capturesContent ? text.slice(0, MAX_CONTENT).toWellFormed() : undefined;
  }
}

const providers: readonly (readonly [RegExp, string])[] = [
  [/^claude/, "anthropic"],
  [/^(gpt|o\d|codex)/, "openai"],
  [/^gemini/, "gcp.gemini"],
  [/^mistral|^codestral|^devstral/, "mistral_ai"],
  [/^deepseek/, "deepseek"],
  [/^grok/, "x_ai"],
];

/** Returns the conventions' name for the provider of a model, else the word before `/` or `:` in its id. */
function toProvider(model: string): string {
  const name = model.slice(model.lastIndexOf("/") + 1);
  return providers.find(([pattern]) => pattern.test(name))?.[1] ?? /^[^/:]*/.exec(model)?.[0] ?? "";
}
