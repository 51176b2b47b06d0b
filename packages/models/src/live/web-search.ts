/** The provider's own search of the web (C48). */
import type { LanguageModelV4ProviderTool } from "@ai-sdk/provider";
import type { PackageEndpoint, ProviderEndpoint } from "../endpoint.ts";

/** Most searches in one request, since each costs money. Only Anthropic takes such a limit. */
const maximumSearches = 8;

/** Matches Gemini from its third generation, which can search next to other tools. */
const searchingGemini = /(^|\/)gemini-(?![12]\b|pro\b)/;

/** Returns the provider's tool; undefined if this endpoint has no search that Sheaf can use. */
export function findSearchTool(endpoint: ProviderEndpoint | PackageEndpoint): LanguageModelV4ProviderTool | undefined {
  switch ("protocol" in endpoint ? endpoint.protocol : "package") {
    case "anthropic-messages":
      return toTool("anthropic.web_search_20250305", "web_search", { maxUses: maximumSearches });
    case "openai-responses":
      return toTool("openai.web_search", "web_search");
    case "gemini":
      return searchingGemini.test(endpoint.modelId) ? toTool("google.google_search", "google_search") : undefined;
    case "openai-chat":
    case "package":
      return undefined;
  }
}

function toTool(
  id: LanguageModelV4ProviderTool["id"],
  name: string,
  args: LanguageModelV4ProviderTool["args"] = {},
): LanguageModelV4ProviderTool {
  return { type: "provider", id, name, args };
}
