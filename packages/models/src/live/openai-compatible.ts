/** Requests to other servers with OpenAI's chat completions. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { ProviderEndpoint } from "../endpoint.ts";

/** Writes requests for `openai-chat` at any base URL. */
export function createOpenAiCompatibleLanguageModel(
  endpoint: ProviderEndpoint,
  fetch: typeof globalThis.fetch,
): LanguageModelV4 {
  const { provider, baseUrl, apiKey, modelId } = endpoint;
  return createOpenAICompatible({
    name: provider,
    baseURL: baseUrl,
    includeUsage: true,
    fetch,
    ...(apiKey !== undefined && { apiKey }),
  }).chatModel(modelId);
}
