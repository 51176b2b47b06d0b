import type { Usage } from "@sheaf/protocol";
import { readCount, readObject, type JsonObject } from "./read-json.ts";

/** Converts a provider's usage object into the `Usage` of one turn (N6). */
export type ToUsage = (raw: JsonObject) => Usage;

/** Numbers of tokens by a provider; undefined if not reported. */
interface TokenCounts {
  /** Tokens of the prompt, with the cached ones. */
  readonly prompt: number | undefined;
  /** Tokens of the completion, with the reasoning. */
  readonly completion: number | undefined;
  readonly reasoning: number | undefined;
  readonly cached: number | undefined;
  readonly cacheWrite?: number | undefined;
}

/** Usage of a turn for which the provider reports none (N6). */
export const unknownUsage: Usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0, estimated: true };

/** Makes the usage of a turn from these numbers; `unknownUsage` if they are unknown. */
export function createUsage(counts: TokenCounts): Usage {
  if (counts.prompt === undefined && counts.completion === undefined) return unknownUsage;
  const promptTokens = include(counts.cached, counts.prompt ?? 0);
  const completionTokens = include(counts.reasoning, counts.completion ?? 0);
  return {
    promptTokens,
    completionTokens,
    totalTokens: promptTokens + completionTokens,
    ...(counts.reasoning === undefined ? {} : { reasoningTokens: counts.reasoning }),
    ...(counts.cached === undefined ? {} : { cachedPromptTokens: counts.cached }),
    ...(counts.cacheWrite === undefined ? {} : { cacheWriteTokens: counts.cacheWrite }),
  };
}

/** Returns the whole with its part. Some servers report them separately, and then the part can be larger. */
function include(part = 0, whole: number): number {
  return part > whole ? whole + part : whole;
}

/** Returns the sum of the known numbers; undefined if all are unknown. */
function addCounts(...counts: readonly (number | undefined)[]): number | undefined {
  const known = counts.filter((count) => count !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, count) => sum + count, 0);
}

/** Adds reasoning to the completion: xAI and gateways to Gemini report it as a separate part of the total. */
function includeReasoning(raw: {
  readonly prompt: number | undefined;
  readonly completion: number | undefined;
  readonly reasoning: number | undefined;
  readonly total: number | undefined;
}): number | undefined {
  const { completion, reasoning } = raw;
  if (completion === undefined || reasoning === undefined || reasoning === 0) return completion;
  const isLeftOut = reasoning <= completion && raw.total === (raw.prompt ?? 0) + completion + reasoning;
  return isLeftOut ? completion + reasoning : completion;
}

/** Reads the usage of OpenAI's chat and compatible servers. */
export function toOpenAiChatUsage(raw: JsonObject): Usage {
  const prompt = readCount(raw.prompt_tokens);
  const promptDetails = readObject(raw.prompt_tokens_details);
  const reasoning = readCount(readObject(raw.completion_tokens_details).reasoning_tokens, raw.reasoning_tokens);
  return createUsage({
    prompt,
    completion: includeReasoning({
      prompt,
      completion: readCount(raw.completion_tokens),
      reasoning,
      total: readCount(raw.total_tokens),
    }),
    reasoning,
    cached: readCount(promptDetails.cached_tokens, raw.prompt_cache_hit_tokens, raw.cached_tokens),
    cacheWrite: readCount(promptDetails.cache_write_tokens, raw.cache_creation_input_tokens),
  });
}

export function toOpenAiResponsesUsage(raw: JsonObject): Usage {
  const prompt = readCount(raw.input_tokens);
  const inputDetails = readObject(raw.input_tokens_details);
  const reasoning = readCount(readObject(raw.output_tokens_details).reasoning_tokens);
  return createUsage({
    prompt,
    completion: includeReasoning({
      prompt,
      completion: readCount(raw.output_tokens),
      reasoning,
      total: readCount(raw.total_tokens),
    }),
    reasoning,
    cached: readCount(inputDetails.cached_tokens),
    cacheWrite: readCount(inputDetails.cache_write_tokens),
  });
}

/** Reads the usage of Anthropic, whose `input_tokens` exclude tokens read from and written to the cache. */
export function toAnthropicUsage(raw: JsonObject): Usage {
  const cached = readCount(raw.cache_read_input_tokens);
  const cacheWrite = readCount(raw.cache_creation_input_tokens);
  return createUsage({
    prompt: addCounts(readCount(raw.input_tokens), cached, cacheWrite),
    completion: readCount(raw.output_tokens),
    reasoning: readCount(readObject(raw.output_tokens_details).thinking_tokens),
    cached,
    cacheWrite,
  });
}

/** Reads the usage of Gemini, which lists thoughts and the input of Google's tools separately. */
export function toGeminiUsage(raw: JsonObject): Usage {
  const reasoning = readCount(raw.thoughtsTokenCount, raw.total_thought_tokens);
  return createUsage({
    prompt: addCounts(
      readCount(raw.promptTokenCount, raw.total_input_tokens),
      readCount(raw.toolUsePromptTokenCount, raw.total_tool_use_tokens),
    ),
    completion: addCounts(readCount(raw.candidatesTokenCount, raw.total_output_tokens), reasoning),
    reasoning,
    cached: readCount(raw.cachedContentTokenCount, raw.total_cached_tokens),
  });
}

/** Reads the usage of Ollama, whose fields are in the last payload itself. */
export function toOllamaUsage(raw: JsonObject): Usage {
  return createUsage({
    prompt: readCount(raw.prompt_eval_count),
    completion: readCount(raw.eval_count),
    reasoning: undefined,
    cached: undefined,
  });
}

/** Reads the usage of Cohere: tokens, not billed units. */
export function toCohereUsage(raw: JsonObject): Usage {
  const tokens = readObject(raw.tokens);
  return createUsage({
    prompt: readCount(tokens.input_tokens),
    completion: readCount(tokens.output_tokens),
    reasoning: undefined,
    cached: readCount(raw.cached_tokens),
  });
}
