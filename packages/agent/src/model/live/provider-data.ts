/** Data of earlier answers that a provider wants back in the next request. */
import type { LanguageModelV4Message } from "@ai-sdk/provider";
import type { ProviderData } from "@sheaf/protocol";
import type { PackageEndpoint, ProviderEndpoint, WireProtocol } from "../endpoint.ts";

/** The message of an answer. */
export type AssistantMessage = Extract<LanguageModelV4Message, { role: "assistant" }>;
type Content = AssistantMessage["content"];
type Options = NonNullable<AssistantMessage["providerOptions"]>;

/** What writes a request: one of our own protocols, or a package of the user's. */
export type RequestWriterName = WireProtocol | "package";

/** Identifies the model whose data this endpoint accepts: other models and providers refuse it. */
export function toOrigin(endpoint: ProviderEndpoint | PackageEndpoint): string {
  const writer = "protocol" in endpoint ? endpoint.protocol : endpoint.settings.package;
  return `${writer} ${endpoint.provider}/${endpoint.modelId}`;
}

/** Appends a block to the parts of an answer, or puts a mark on its last text. */
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

/** The mark of a call: Gemini's, or the metadata of a package; undefined for other data. */
export function toCallMark({ thoughtSignature, providerMetadata }: ProviderData["data"]): Options | undefined {
  if (typeof thoughtSignature === "string") return { google: { thoughtSignature } };
  return providerMetadata === undefined ? undefined : (providerMetadata as Options);
}

/** Metadata of a package goes back on its part; reasoning is a separate part. */
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

/** A reasoning item has a part for each text of its summary; the phase of a message comes after its text. */
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
  // The mark of an answer can come alone, after its last text.
  else content.push({ type: "text", text: "", providerOptions });
}

/** Fields of the message itself; servers that do not send such fields refuse them. */
function appendChatReasoning(message: AssistantMessage, data: ProviderData["data"]): void {
  const { reasoning_content: text, reasoning_details: details } = data;
  if (typeof text === "string") message.content.unshift({ type: "reasoning", text });
  if (Array.isArray(details)) message.providerOptions = { openaiCompatible: { reasoning_details: details } };
}
