/** Requests to OpenAI: Responses, or chat completions if the endpoint says so. */
import { createOpenAI } from "@ai-sdk/openai";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { absentKey, type ProviderEndpoint } from "../endpoint.ts";

/** Writes requests for `openai-responses` and OpenAI's own `openai-chat`. */
export function createOpenAiLanguageModel(endpoint: ProviderEndpoint, fetch: typeof globalThis.fetch): LanguageModelV4 {
  const { baseUrl, apiKey = absentKey, modelId, protocol } = endpoint;
  const provider = createOpenAI({ baseURL: baseUrl, apiKey, fetch });
  return protocol === "openai-chat" ? provider.chat(modelId) : provider.responses(modelId);
}
