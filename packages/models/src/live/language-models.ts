/** Writers of requests by family of models: packages of the AI SDK. Sheaf loads only the one in use. */
import { absentKey } from "../endpoint.ts";
import type { CreateLanguageModel } from "./live-model.ts";

export const languageModels = {
  /** Responses, or OpenAI's own chat completions if the endpoint selects them. */
  async openai() {
    const { createOpenAI } = await import("@ai-sdk/openai");
    return ({ baseUrl, apiKey = absentKey, modelId, protocol }, fetch) => {
      const provider = createOpenAI({ baseURL: baseUrl, apiKey, fetch });
      return protocol === "openai-chat" ? provider.chat(modelId) : provider.responses(modelId);
    };
  },
  async anthropic() {
    const { createAnthropic } = await import("@ai-sdk/anthropic");
    return ({ baseUrl, apiKey = absentKey, modelId }, fetch) =>
      createAnthropic({ baseURL: baseUrl, apiKey, fetch }).languageModel(modelId);
  },
  /** The key is in a header, never in the address (S-42). */
  async google() {
    const { createGoogle } = await import("@ai-sdk/google");
    return ({ baseUrl, apiKey = absentKey, modelId }, fetch) =>
      createGoogle({ baseURL: baseUrl, apiKey, fetch }).languageModel(modelId);
  },
  /** Chat completions at any address. */
  async "openai-compatible"() {
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
    return ({ provider: name, baseUrl: baseURL, apiKey, modelId }, fetch) => {
      const key = apiKey !== undefined && { apiKey };
      return createOpenAICompatible({ name, baseURL, includeUsage: true, fetch, ...key }).chatModel(modelId);
    };
  },
} as const satisfies Readonly<Record<string, () => Promise<CreateLanguageModel>>>;
