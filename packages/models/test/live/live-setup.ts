/** A live model against the local server, with a clock, chance and patience of its own. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ModelEvent } from "@sheaf/protocol";
import type { ModelAnswer } from "../../../../test/support/model-server.ts";
import { SheafError } from "@sheaf/base/errors";
import type { ProviderEndpoint, RequestLimits, WireProtocol } from "../../src/endpoint.ts";
import { endGraceMs } from "../../src/live/connection.ts";
import { languageModels } from "../../src/live/language-models.ts";
import { createLiveModel, type CreateLanguageModel } from "../../src/live/live-model.ts";
import type { Model, ModelRequest } from "../../src/provider.ts";

export const canaryKey = "CANARY-3f9a1c77e2d84b55";
export const startTime = Date.UTC(2026, 0, 1);

export const protocols: readonly WireProtocol[] = ["openai-responses", "openai-chat", "anthropic-messages", "gemini"];

const factories: Readonly<Record<WireProtocol, CreateLanguageModel>> = {
  "openai-responses": await languageModels.openai(),
  "openai-chat": await languageModels["openai-compatible"](),
  "anthropic-messages": await languageModels.anthropic(),
  gemini: await languageModels.google(),
};

const modelIds: Readonly<Record<WireProtocol, string>> = {
  "openai-responses": "gpt-5",
  "openai-chat": "small-model",
  "anthropic-messages": "claude-sonnet-4-5",
  gemini: "gemini-3-pro-preview",
};

export function createEndpoint(
  protocol: WireProtocol,
  url: string,
  more: Partial<ProviderEndpoint> = {},
): ProviderEndpoint {
  return {
    provider: `test-${protocol}`,
    protocol,
    baseUrl: `${url}/v1`,
    modelId: modelIds[protocol],
    displayName: "Test model",
    apiKey: canaryKey,
    apiKeySource: "env",
    headers: {},
    ...more,
  };
}

export interface LiveSetup {
  readonly model: Model;
  /** Waits between tries, in milliseconds. */
  readonly waits: readonly number[];
}

interface LiveOptions {
  readonly endpoint?: Partial<ProviderEndpoint>;
  readonly limits?: Partial<RequestLimits>;
  readonly createLanguageModel?: CreateLanguageModel;
  /** Waits between tries take this long and not none. */
  readonly waitMs?: number;
  /** Default: it stands still at `startTime`. */
  readonly now?: () => number;
  /** How long an ended body may stay open, in place of the product's time. */
  readonly graceMs?: number;
}

/** Waits between tries take no time; silence and the grace behind an end take real time. */
export function createLiveSetup(protocol: WireProtocol, url: string, options: LiveOptions = {}): LiveSetup {
  const limits = { silenceMs: 20_000, maxTries: 3, waitsForQuota: false, ...options.limits };
  const waits: number[] = [];
  const ports = {
    now: options.now ?? (() => startTime),
    random: () => 0.5,
    startTimer: (milliseconds: number, run: () => void) => {
      const timer = setTimeout(run, milliseconds === endGraceMs ? (options.graceMs ?? milliseconds) : milliseconds);
      return () => clearTimeout(timer);
    },
    sleep: async (milliseconds: number, signal: AbortSignal) => {
      waits.push(milliseconds);
      if (options.waitMs) await sleep(options.waitMs, undefined, { signal });
    },
  };
  const endpoint = createEndpoint(protocol, url, options.endpoint);
  const model = createLiveModel(endpoint, options.createLanguageModel ?? factories[protocol], limits, ports);
  return { model, waits };
}

export function createRequest(more: Partial<ModelRequest> = {}): ModelRequest {
  let calls = 0;
  return {
    system: "You are a coding agent.",
    messages: [{ role: "user", text: "Read README.md" }],
    tools: [],
    mode: "agent",
    newCallId: () => `call_${(calls += 1)}`,
    ...more,
  };
}

export interface Outcome {
  readonly groups: readonly (readonly ModelEvent[])[];
  readonly events: readonly ModelEvent[];
  readonly text: string;
  readonly error: SheafError | undefined;
}

/** Everything that a stream gives, and how it ends. */
export async function readOutcome(
  model: Model,
  request: ModelRequest = createRequest(),
  signal: AbortSignal = new AbortController().signal,
): Promise<Outcome> {
  const groups: (readonly ModelEvent[])[] = [];
  let error: SheafError | undefined;
  try {
    for await (const group of model.stream(request, signal)) groups.push(group);
  } catch (thrown) {
    if (!(thrown instanceof SheafError)) throw thrown;
    error = thrown;
  }
  const events = groups.flat();
  const text = events.map((event) => (event.type === "text_delta" ? event.text : "")).join("");
  return { groups, events, text, error };
}

/** A short answer in each protocol, cut into events. */
export const shortAnswers: Readonly<Record<WireProtocol, readonly string[]>> = {
  "openai-responses": [
    formatEvent({ type: "response.created", response: { id: "resp_1", model: "gpt-5" } }),
    formatEvent({ type: "response.output_text.delta", output_index: 0, content_index: 0, item_id: "m", delta: "Hel" }),
    formatEvent({ type: "response.output_text.delta", output_index: 0, content_index: 0, item_id: "m", delta: "lo" }),
    formatEvent({ type: "response.completed", response: { id: "resp_1", status: "completed", usage: {} } }),
  ],
  "openai-chat": [
    formatEvent({ id: "c", choices: [{ index: 0, delta: { role: "assistant" } }] }),
    formatEvent({ id: "c", choices: [{ index: 0, delta: { content: "Hel" } }] }),
    formatEvent({ id: "c", choices: [{ index: 0, delta: { content: "lo" } }] }),
    `${formatEvent({ id: "c", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}data: [DONE]\n\n`,
  ],
  "anthropic-messages": [
    formatEvent({ type: "message_start", message: { id: "msg_1", usage: { input_tokens: 3 } } }),
    formatEvent({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hel" } }),
    formatEvent({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "lo" } }),
    formatEvent({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } }) +
      formatEvent({ type: "message_stop" }),
  ],
  gemini: [
    formatEvent({ candidates: [], modelVersion: "g" }),
    formatEvent({ candidates: [{ content: { parts: [{ text: "Hel" }] } }] }),
    formatEvent({ candidates: [{ content: { parts: [{ text: "lo" }] } }] }),
    formatEvent({ candidates: [{ content: { parts: [] }, finishReason: "STOP" }] }),
  ],
};

export function formatEvent(payload: object): string {
  return `data: ${JSON.stringify(payload)}\n\n`;
}

const json = { "content-type": "application/json" };

export function createErrorAnswer(
  status: number,
  error: object | string,
  headers: Record<string, string> = {},
): ModelAnswer {
  return { status, headers: { ...json, ...headers }, chunks: [JSON.stringify({ error })] };
}

export const textThenMore = shortAnswers["openai-chat"].slice(0, 2);
