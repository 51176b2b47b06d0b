/** Requests to Anthropic's messages. */
import { createAnthropic } from "@ai-sdk/anthropic";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { absentKey, type ProviderEndpoint } from "../endpoint.ts";

/** The request writer for `anthropic-messages`. */
export function createAnthropicLanguageModel(
  endpoint: ProviderEndpoint,
  fetch: typeof globalThis.fetch,
): LanguageModelV4 {
  const { baseUrl, apiKey = absentKey, modelId } = endpoint;
  return createAnthropic({ baseURL: baseUrl, apiKey, fetch }).languageModel(modelId);
}
