/** Writes a model request in the format of the provider packages. */
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4ToolResultPart,
} from "@ai-sdk/provider";
import type { Attachment, AttachmentType } from "@sheaf/protocol";
import { attachmentTypes, toSentMessages } from "../attachments.ts";
import type { PackageEndpoint, ProviderEndpoint } from "../endpoint.ts";
import type { AssistantPart, ModelMessage, ModelRequest, ModelToolCall, ToolDefinition } from "../provider.ts";
import { toEffortOptions } from "./effort.ts";
import { withoutOpenSearches } from "./search-parts.ts";
import { findSearchTool } from "./web-search.ts";
import {
  appendProviderData,
  toCallMark,
  toOrigin,
  type AssistantMessage,
  type RequestWriterName,
} from "./provider-data.ts";

type ToolResultMessage = Extract<ModelMessage, { role: "tool" }>;

interface PromptContext {
  readonly writer: RequestWriterName;
  /** The origin of `provider_data` that this endpoint can read. */
  readonly origin: string;
  readonly callIds: ReadonlyMap<string, string>;
  readonly results: ReadonlyMap<string, ToolResultMessage>;
  /** True if the request has the provider's search. */
  readonly webSearch: boolean;
}

/** Anthropic's mark: the request up to here may be cached. A request can have four marks. */
const cacheMark = {
  anthropic: { cacheControl: { type: "ephemeral" } },
  bedrock: { cachePoint: { type: "default" } },
};

/** Longest answer of unknown models. Anthropic requires a limit, and its package's default is too small for a file. */
const unknownModelTokens = 16_384;

/**
 * Returns the call options of a request. The system text is first. Roles are as providers require them: no empty
 * messages, no two user messages in a row, exactly one result after each call. Tools, system and the two newest
 * messages have Anthropic's cache marks. Parts of earlier answers that the provider wants back are included.
 */
export function toCallOptions(
  request: ModelRequest,
  endpoint: ProviderEndpoint | PackageEndpoint,
): LanguageModelV4CallOptions {
  const writer = toWriter(endpoint);
  const sent = toSentMessages(request.messages, toAttachmentTypes(endpoint));
  const search = request.webSearch ? findSearchTool(endpoint) : undefined;
  const messages = toMessages(sent, {
    webSearch: search !== undefined,
    writer,
    origin: toOrigin(endpoint),
    callIds: toWireCallIds(sent, writer),
    results: new Map(sent.flatMap((message) => (message.role === "tool" ? [[message.callId, message]] : []))),
  });
  const system: LanguageModelV4Message[] = request.system === "" ? [] : [{ role: "system", content: request.system }];
  const tools = request.tools.map((tool) => toFunctionTool(tool, writer));
  // Packages for other hosts of Claude (Bedrock, Vertex) have the same marks, or other ones.
  if (writer === "anthropic-messages" || (writer === "package" && endpoint.modelId.includes("claude"))) {
    for (const marked of [system.at(-1), tools.at(-1), ...findNewest(messages)]) {
      if (marked) marked.providerOptions = cacheMark;
    }
  }
  return {
    prompt: [...system, ...messages],
    // The cache mark of the last tool covers the search as well.
    ...((tools.length > 0 || search) && { tools: [...(search ? [search] : []), ...tools] }),
    ...toWriterOptions(request, writer, endpoint.modelId),
  };
}

function toWriter(endpoint: ProviderEndpoint | PackageEndpoint): RequestWriterName {
  return "protocol" in endpoint ? endpoint.protocol : "package";
}

/**
 * Returns the types that the user's configuration and the protocol allow. The provider decides about the model (N67).
 */
export function toAttachmentTypes(endpoint: ProviderEndpoint | PackageEndpoint): readonly AttachmentType[] {
  if (endpoint.takesImages === false) return [];
  // ai.google.dev/gemini-api/docs/image-understanding
  return toWriter(endpoint) === "gemini" ? attachmentTypes.filter((type) => type !== "image/gif") : attachmentTypes;
}

function toWriterOptions(
  request: ModelRequest,
  writer: RequestWriterName,
  modelId: string,
): Partial<LanguageModelV4CallOptions> {
  const { providerOptions: { openai = {}, anthropic = {}, ...others } = {}, ...options } = toEffortOptions(
    request,
    writer,
    modelId,
  );
  // OpenAI stores no answer, and sends the reasoning encrypted instead.
  if (writer === "openai-responses") return { ...options, providerOptions: { openai: { store: false, ...openai } } };
  // Other servers with this protocol may not know Anthropic's newer fields.
  if (writer === "anthropic-messages") {
    const isForeign = !modelId.includes("claude");
    const settings = { ...(isForeign && { toolStreaming: false }), ...anthropic };
    return {
      ...options,
      ...(isForeign && { maxOutputTokens: unknownModelTokens }),
      ...(Object.keys(settings).length > 0 && { providerOptions: { anthropic: settings } }),
    };
  }
  return { ...options, ...(Object.keys(others).length > 0 && { providerOptions: others }) };
}

/** Returns the two newest messages other than answers: this request and the previous one added them. */
function findNewest(messages: readonly LanguageModelV4Message[]): LanguageModelV4Message[] {
  return messages.filter(({ role }) => role !== "assistant").slice(-2);
}

function toFunctionTool(tool: ToolDefinition, writer: RequestWriterName): LanguageModelV4FunctionTool {
  return {
    type: "function",
    name: tool.name,
    description: tool.description,
    inputSchema: tool.parameters,
    // If it is missing, Responses makes every optional parameter required.
    ...(writer === "openai-responses" && { strict: false }),
  };
}

function toMessages(messages: readonly ModelMessage[], context: PromptContext): LanguageModelV4Message[] {
  const prompt: LanguageModelV4Message[] = [];
  for (const message of messages) {
    if (message.role === "user") appendUserMessage(prompt, message.text, message.attachments);
    else if (message.role === "assistant") appendAnswer(prompt, message.content, context);
    // Results follow the answer with their calls.
  }
  return withoutOpenSearches(prompt);
}

function appendUserMessage(
  prompt: LanguageModelV4Message[],
  text: string,
  attachments: readonly Attachment[] = [],
): void {
  const files = attachments.map(toFilePart);
  const shown = text.trim() === "" ? "(no text)" : text;
  const last = prompt.at(-1);
  const content = last?.role === "user" ? last.content : [];
  const part = content.at(-1);
  // The text is one part, since templates of small local models do not know parts.
  if (files.length === 0 && part?.type === "text") part.text += `\n\n${shown}`;
  // Anthropic recommends images before the text about them.
  else content.push(...files, { type: "text", text: shown });
  if (last?.role !== "user") prompt.push({ role: "user", content });
}

function toFilePart({ name, mediaType, data }: Attachment): LanguageModelV4FilePart {
  return { type: "file", filename: name, mediaType, data: { type: "data", data } };
}

function appendAnswer(
  prompt: LanguageModelV4Message[],
  parts: Extract<ModelMessage, { role: "assistant" }>["content"],
  context: PromptContext,
): void {
  const calls = parts.filter((part) => part.type === "tool_call");
  const answer = toAnswer(parts, context);
  if (answer.content.length === 0) return;
  const last = prompt.at(-1);
  if (last?.role === "assistant") last.content.push(...answer.content);
  else prompt.push(answer);
  if (calls.length > 0) {
    prompt.push({ role: "tool", content: calls.map((call) => toToolResultPart(call, context)) });
    if (!hasFileResults(context.writer)) appendResultFiles(prompt, calls, context);
  }
}

/** False for chat completions and the user's packages, whose tool results may be text only (N68). */
function hasFileResults(writer: RequestWriterName): boolean {
  return writer !== "openai-chat" && writer !== "package";
}

/** Appends files of results after the results of a turn, which must stay together. */
function appendResultFiles(
  prompt: LanguageModelV4Message[],
  calls: readonly ModelToolCall[],
  { callIds, results }: PromptContext,
): void {
  for (const { callId, toolName } of calls) {
    const attachments = results.get(callId)?.attachments ?? [];
    if (attachments.length === 0) continue;
    const names = attachments.map(({ name }) => name).join(", ");
    const text = `(Attached to the result of ${toolName}, call ${callIds.get(callId) ?? callId}: ${names})`;
    appendUserMessage(prompt, text, attachments);
  }
}

function toAnswer(parts: readonly AssistantPart[], context: PromptContext): AssistantMessage {
  const answer: AssistantMessage = { role: "assistant", content: [] };
  const own = parts.filter((part) => part.type !== "provider_data" || part.origin === context.origin);
  for (const part of own) {
    if (part.type === "tool_call") answer.content.push(toToolCallPart(part, own, context));
    // Providers refuse text that consists of spaces.
    else if (part.type === "text") {
      if (part.text.trim() !== "") answer.content.push({ type: "text", text: part.text });
    } else if (part.callId === undefined) appendProviderData(answer, part, context);
  }
  // Providers refuse reasoning at the end, as in an answer that broke off.
  while (answer.content.at(-1)?.type === "reasoning") answer.content.pop();
  return answer;
}

function toToolCallPart(
  call: ModelToolCall,
  parts: readonly AssistantPart[],
  { callIds }: PromptContext,
): AssistantMessage["content"][number] {
  const mark = parts.find((part) => part.type === "provider_data" && part.callId === call.callId);
  const providerOptions = mark?.type === "provider_data" ? toCallMark(mark.data) : undefined;
  return {
    type: "tool-call",
    toolCallId: callIds.get(call.callId) ?? call.callId,
    toolName: call.toolName,
    // Providers accept only an object. The model finds the unreadable text in it (N30).
    input: call.rawArguments === undefined ? call.arguments : { rawArguments: call.rawArguments },
    ...(providerOptions && { providerOptions }),
  };
}

function toToolResultPart(
  call: ModelToolCall,
  { callIds, results, writer }: PromptContext,
): LanguageModelV4ToolResultPart {
  const result = results.get(call.callId);
  const { output, isError } = result ?? { output: "This call has no result.", isError: true };
  // OpenAI's protocols have no mark for errors: the package would put the text into JSON, with escaped line ends.
  const hasErrorMark = writer === "anthropic-messages" || writer === "gemini";
  const value = output === "" ? "(no output)" : output;
  const files = hasFileResults(writer) ? (result?.attachments ?? []).map(toFilePart) : [];
  return {
    type: "tool-result",
    toolCallId: callIds.get(call.callId) ?? call.callId,
    toolName: call.toolName,
    output:
      files.length > 0
        ? { type: "content", value: [{ type: "text", text: value }, ...files] }
        : { type: isError && hasErrorMark ? "error-text" : "text", value },
  };
}

/** Length of ids that every protocol allows. */
const longest = 40;

const wordCharacters = /^[\w-]+$/;
const visibleCharacters = /^[\x21-\x7E]+$/;

/** Rules for ids by protocol. OpenAI's chat completions refuse ids longer than 40. */
const rules: Readonly<Record<RequestWriterName, { readonly characters: RegExp; readonly longest: number }>> = {
  "anthropic-messages": { characters: wordCharacters, longest: 64 },
  "openai-responses": { characters: wordCharacters, longest: 64 },
  "openai-chat": { characters: visibleCharacters, longest },
  package: { characters: wordCharacters, longest },
  gemini: { characters: visibleCharacters, longest: 64 },
};

/**
 * Chooses an id for each call of a history, by call id. It is the provider's own id if that exists, is allowed, and is
 * new: some providers restart at 0 in every turn, and Anthropic refuses a history with equal ids. The choice is a pure
 * function of the history up to the call, so that caches stay valid.
 */
function toWireCallIds(messages: readonly ModelMessage[], writer: RequestWriterName): ReadonlyMap<string, string> {
  const ids = new Map<string, string>();
  const taken = new Set<string>();
  const rule = rules[writer];
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    for (const part of message.content) {
      if (part.type !== "tool_call") continue;
      const own = part.providerCallId ?? "";
      const isAllowed = own.length <= rule.longest && rule.characters.test(own);
      const id = isAllowed && !taken.has(own) ? own : toShortId(part.callId);
      taken.add(id);
      ids.set(part.callId, id);
    }
  }
  return ids;
}

/** Shortens an id. A UUID loses its dashes. A longer id keeps its end, which contains the counter. */
function toShortId(callId: string): string {
  if (callId.length <= longest) return callId;
  return callId.replaceAll("-", "").slice(-longest);
}
