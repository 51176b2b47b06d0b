/** Data of earlier answers that a provider wants back in the next request. */
import type { LanguageModelV4Message } from "@ai-sdk/provider";
import type { ProviderData } from "@sheaf/protocol";
import { toGoogleSearchPart, toSearchItem, toSearchPart } from "./search-parts.ts";
import type { PackageEndpoint, ProviderEndpoint, WireProtocol } from "../endpoint.ts";

export type AssistantMessage = Extract<LanguageModelV4Message, { role: "assistant" }>;
type Content = AssistantMessage["content"];
type Options = NonNullable<AssistantMessage["providerOptions"]>;

/** The writer of a request: a protocol of Sheaf, or a package of the user's configuration. */
export type RequestWriterName = WireProtocol | "package";

/** Identifies the model whose data this endpoint accepts: other models and providers refuse it. */
export function toOrigin(endpoint: ProviderEndpoint | PackageEndpoint): string {
  const writer = "protocol" in endpoint ? endpoint.protocol : endpoint.settings.package;
  return `${writer} ${endpoint.provider}/${endpoint.modelId}`;
}

/** Appends a block to an answer's parts, or adds a mark to its last text. `webSearch`: the request has the tool. */
export function appendProviderData(
  message: AssistantMessage,
  { data }: ProviderData,
  { writer, webSearch }: { readonly writer: RequestWriterName; readonly webSearch: boolean },
): void {
  switch (writer) {
    case "package":
      return appendPart(message.content, data);
    case "anthropic-messages":
      return appendBlock(message.content, data, webSearch);
    case "openai-responses":
      return appendItem(message.content, data);
    case "gemini":
      return appendGeminiPart(message.content, data, webSearch);
    case "openai-chat":
      return appendChatReasoning(message, data);
  }
}

/** Returns the mark of a call: Gemini's, or the metadata of a package; undefined for other data. */
export function toCallMark({ thoughtSignature, providerMetadata }: ProviderData["data"]): Options | undefined {
  if (typeof thoughtSignature === "string") return { google: { thoughtSignature } };
  return providerMetadata === undefined ? undefined : (providerMetadata as Options);
}

/** Appends a part with a package's metadata; reasoning is a separate part. */
function appendPart(content: Content, data: ProviderData["data"]): void {
  const { part, text, providerMetadata } = data;
  const providerOptions = providerMetadata as Options;
  const last = content.at(-1);
  if (part === "reasoning") content.push({ type: "reasoning", text: String(text), providerOptions });
  else if (last?.type === "text") last.providerOptions = providerOptions;
}

function appendBlock(content: Content, data: ProviderData["data"], webSearch: boolean): void {
  const { type, thinking, signature, data: cipher } = data;
  if (type === "server_tool_use" || type === "web_search_tool_result") {
    // Providers may refuse blocks of a tool that the request does not have.
    if (webSearch) content.push(toSearchPart(data));
  } else if (type === "thinking") {
    content.push({
      type: "reasoning",
      text: String(thinking),
      providerOptions: { anthropic: { signature: String(signature) } },
    });
  } else if (type === "redacted_thinking") {
    content.push({ type: "reasoning", text: "", providerOptions: { anthropic: { redactedData: String(cipher) } } });
  }
}

/** Appends an item. A reasoning item has a part for each text of its summary. A message's phase follows its text. */
function appendItem(content: Content, data: ProviderData["data"]): void {
  const { type, id, encrypted_content: cipher, summary, phase } = data;
  if (type === "web_search_call") content.push(...toSearchItem(data));
  const last = content.at(-1);
  if (type === "message" && last?.type === "text") last.providerOptions = { openai: { phase: String(phase) } };
  if (type !== "reasoning") return;
  const openai = { itemId: String(id), reasoningEncryptedContent: String(cipher) };
  const entries = Array.isArray(summary) ? (summary as readonly { readonly text?: unknown }[]) : [];
  const texts = entries.flatMap(({ text }) => (typeof text === "string" && text !== "" ? [text] : []));
  for (const text of texts.length === 0 ? [""] : texts) {
    content.push({ type: "reasoning", text, providerOptions: { openai } });
  }
}

function appendGeminiPart(content: Content, data: ProviderData["data"], webSearch: boolean): void {
  const providerOptions = toCallMark(data);
  if (data["toolCall"] !== undefined || data["toolResponse"] !== undefined) {
    if (webSearch) content.push(toGoogleSearchPart(data));
    return;
  }
  const last = content.at(-1);
  if (data["thought"] === true)
    content.push({ type: "reasoning", text: String(data["text"]), ...(providerOptions && { providerOptions }) });
  else if (!providerOptions) return;
  else if (last?.type === "text" && !last.providerOptions) last.providerOptions = providerOptions;
  // The mark of an answer may arrive alone, after its last text.
  else content.push({ type: "text", text: "", providerOptions });
}

/** Appends fields of the message itself. Servers that do not send such fields refuse them. */
function appendChatReasoning(message: AssistantMessage, data: ProviderData["data"]): void {
  const { reasoning_content: text, reasoning_details: details } = data;
  if (typeof text === "string") message.content.unshift({ type: "reasoning", text });
  if (Array.isArray(details)) message.providerOptions = { openaiCompatible: { reasoning_details: details } };
}
