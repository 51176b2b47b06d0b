/** Requests to Anthropic's Messages API. */
import { createAnthropic } from "@ai-sdk/anthropic";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { absentKey, type ProviderEndpoint } from "../endpoint.ts";

/** Writes requests for `anthropic-messages`. */
export function createAnthropicLanguageModel(
  endpoint: ProviderEndpoint,
  fetch: typeof globalThis.fetch,
): LanguageModelV4 {
  const { baseUrl, apiKey = absentKey, modelId } = endpoint;
  return createAnthropic({ baseURL: baseUrl, apiKey, fetch }).languageModel(modelId);
}
