/** What a provider wants back of its own answers, as parts of the next request. */
import type { LanguageModelV4Message } from "@ai-sdk/provider";
import type { ProviderData } from "@sheaf/protocol";
import type { PackageEndpoint, ProviderEndpoint, WireProtocol } from "../endpoint.ts";

/** The message of an answer. */
export type AssistantMessage = Extract<LanguageModelV4Message, { role: "assistant" }>;
type Content = AssistantMessage["content"];
type Options = NonNullable<AssistantMessage["providerOptions"]>;

/** What writes a request: one of our own protocols, or a package of the user's. */
export type RequestWriterName = WireProtocol | "package";

/** Who can read what this endpoint wants back: another model or provider would refuse it. */
export function toOrigin(endpoint: ProviderEndpoint | PackageEndpoint): string {
  const writer = "protocol" in endpoint ? endpoint.protocol : endpoint.settings.package;
  return `${writer} ${endpoint.provider}/${endpoint.modelId}`;
}

/** Puts a block, or the mark of the text before it, behind the parts of an answer so far. */
export function appendProviderData(message: AssistantMessage, { data }: ProviderData, writer: RequestWriterName): void {
  switch (writer) {
    case "package":
      return appendPart(message.content, data);
    case "anthropic-messages":
      return appendThinking(message.content, data);
    case "openai-responses":
      return appendItem(message.content, data);
    case "gemini":
      return appendSignature(message.content, data);
    case "openai-chat":
      return appendChatReasoning(message, data);
  }
}

/** The mark of a call: Gemini's, or what a package said of it; undefined for anything else. */
export function toCallMark({ thoughtSignature, providerMetadata }: ProviderData["data"]): Options | undefined {
  if (typeof thoughtSignature === "string") return { google: { thoughtSignature } };
  return providerMetadata === undefined ? undefined : (providerMetadata as Options);
}

/** What a package said of a part goes back on it; reasoning is a part of its own. */
function appendPart(content: Content, data: ProviderData["data"]): void {
  const { part, text, providerMetadata } = data;
  const providerOptions = providerMetadata as Options;
  const last = content.at(-1);
  if (part === "reasoning") content.push({ type: "reasoning", text: String(text), providerOptions });
  else if (last?.type === "text") last.providerOptions = providerOptions;
}

function appendThinking(content: Content, data: ProviderData["data"]): void {
  const { type, thinking, signature, data: cipher } = data;
  if (type === "thinking") {
    content.push({
      type: "reasoning",
      text: String(thinking),
      providerOptions: { anthropic: { signature: String(signature) } },
    });
  } else if (type === "redacted_thinking") {
    content.push({ type: "reasoning", text: "", providerOptions: { anthropic: { redactedData: String(cipher) } } });
  }
}

/** A reasoning item has a part for each text of its summary; the phase of a message stands behind its text. */
function appendItem(content: Content, data: ProviderData["data"]): void {
  const { type, id, encrypted_content: cipher, summary, phase } = data;
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

function appendSignature(content: Content, data: ProviderData["data"]): void {
  const providerOptions = toCallMark(data);
  const last = content.at(-1);
  if (data["thought"] === true)
    content.push({ type: "reasoning", text: String(data["text"]), ...(providerOptions && { providerOptions }) });
  else if (!providerOptions) return;
  else if (last?.type === "text" && !last.providerOptions) last.providerOptions = providerOptions;
  // The mark of an answer may come alone, behind its last text.
  else content.push({ type: "text", text: "", providerOptions });
}

/** Fields of the message itself; servers that do not send them refuse them. */
function appendChatReasoning(message: AssistantMessage, data: ProviderData["data"]): void {
  const { reasoning_content: text, reasoning_details: details } = data;
  if (typeof text === "string") message.content.unshift({ type: "reasoning", text });
  if (Array.isArray(details)) message.providerOptions = { openaiCompatible: { reasoning_details: details } };
}
