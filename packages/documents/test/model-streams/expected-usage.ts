import type { ModelStreamFormat } from "../../src/model-streams/model-stream-decoder.ts";

type Raw = Record<string, unknown>;

/** Recorded answers whose server leaves reasoning out of the completion: their completion tokens with reasoning (N6). */
const completionWithReasoning: ReadonlyMap<string, number> = new Map([
  ["recorded/vercel-gateway__gemini-3-pro-preview__thinking-streaming__0.sse", 9 + 61],
  ["recorded/vercel-gateway__gemini-2.5-flash__simple-streaming__0.sse", 2 + 25],
  ["recorded/xai__grok-code-fast-1__multi-tool-streaming__0.sse", 68 + 266],
  ["recorded/xai__grok-4-fast__simple-streaming__0.sse", 2 + 129],
  ["payloads/xai__xai-text.jsonl", 1 + 290],
]);

/** What N6 makes of a recorded usage object; written down apart from the code that is tested. */
export function toExpectedUsage(format: ModelStreamFormat, file: string, raw: Raw | null): object {
  if (raw === null) return { promptTokens: 0, completionTokens: 0, totalTokens: 0, estimated: true };
  const counts = readers[format](raw);
  const completionTokens = completionWithReasoning.get(file) ?? counts.completionTokens;
  const told = Object.entries({ ...counts, completionTokens }).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(told), totalTokens: counts.promptTokens + completionTokens };
}

interface Counts {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly reasoningTokens?: unknown;
  readonly cachedPromptTokens?: unknown;
  readonly cacheWriteTokens?: unknown;
}

const sum = (...values: readonly unknown[]) => values.reduce<number>((total, value) => total + Number(value ?? 0), 0);
const field = (raw: Raw, ...path: readonly string[]) =>
  path.reduce<unknown>((value, name) => Reflect.get(Object(value), name), raw) ?? undefined;

const readers: Readonly<Record<ModelStreamFormat, (raw: Raw) => Counts>> = {
  "openai-chat": (raw) => ({
    promptTokens: sum(raw["prompt_tokens"]),
    completionTokens: sum(raw["completion_tokens"]),
    reasoningTokens: field(raw, "completion_tokens_details", "reasoning_tokens"),
    cachedPromptTokens: field(raw, "prompt_tokens_details", "cached_tokens") ?? field(raw, "cached_tokens"),
    cacheWriteTokens:
      field(raw, "prompt_tokens_details", "cache_write_tokens") ?? field(raw, "cache_creation_input_tokens"),
  }),
  "openai-responses": (raw) => ({
    promptTokens: sum(raw["input_tokens"]),
    completionTokens: sum(raw["output_tokens"]),
    reasoningTokens: field(raw, "output_tokens_details", "reasoning_tokens"),
    cachedPromptTokens: field(raw, "input_tokens_details", "cached_tokens"),
    cacheWriteTokens: field(raw, "input_tokens_details", "cache_write_tokens"),
  }),
  "anthropic-messages": (raw) => ({
    promptTokens: sum(raw["input_tokens"], raw["cache_read_input_tokens"], raw["cache_creation_input_tokens"]),
    completionTokens: sum(raw["output_tokens"]),
    reasoningTokens: field(raw, "output_tokens_details", "thinking_tokens"),
    cachedPromptTokens: field(raw, "cache_read_input_tokens"),
    cacheWriteTokens: field(raw, "cache_creation_input_tokens"),
  }),
  gemini: (raw) => ({
    promptTokens: sum(raw["promptTokenCount"], raw["toolUsePromptTokenCount"]),
    completionTokens: sum(raw["candidatesTokenCount"], raw["thoughtsTokenCount"]),
    reasoningTokens: field(raw, "thoughtsTokenCount"),
  }),
  "ollama-chat": (raw) => ({
    promptTokens: sum(raw["prompt_eval_count"]),
    completionTokens: sum(raw["eval_count"]),
  }),
  "cohere-chat": (raw) => ({
    promptTokens: sum(field(raw, "tokens", "input_tokens")),
    completionTokens: sum(field(raw, "tokens", "output_tokens")),
    cachedPromptTokens: field(raw, "cached_tokens"),
  }),
  markdown: () => ({ promptTokens: 0, completionTokens: 0 }),
};
