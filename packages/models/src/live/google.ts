/** Requests to Gemini. */
import { createGoogle } from "@ai-sdk/google";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { absentKey, type ProviderEndpoint } from "../endpoint.ts";

/** Writes requests for `gemini`. The key goes into a header, never into the address (S-42). */
export function createGoogleLanguageModel(endpoint: ProviderEndpoint, fetch: typeof globalThis.fetch): LanguageModelV4 {
  const { baseUrl, apiKey = absentKey, modelId } = endpoint;
  return createGoogle({ baseURL: baseUrl, apiKey, fetch }).languageModel(modelId);
}
