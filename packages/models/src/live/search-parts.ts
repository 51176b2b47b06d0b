/** Converts searches of earlier answers for the provider packages, which send them back (N69). */
import type { JSONValue, LanguageModelV4Message, LanguageModelV4ToolResultPart } from "@ai-sdk/provider";
import type { ProviderData } from "@sheaf/protocol";

type Part = Extract<LanguageModelV4Message, { role: "assistant" }>["content"][number];
type Data = ProviderData["data"];
type Fields = Readonly<Record<string, JSONValue | undefined>>;

const toolName = "web_search";

function toCallPart(toolCallId: string, input: unknown): Part {
  return { type: "tool-call", toolCallId, toolName, input, providerExecuted: true };
}

function toResultPart(toolCallId: string, output: LanguageModelV4ToolResultPart["output"]): Part {
  return { type: "tool-result", toolCallId, toolName, output };
}

/** Converts a call of Anthropic's search, or its result, whose encrypted content only Anthropic can read. */
export function toSearchPart({ type, id, input, tool_use_id: callId, content }: Data): Part {
  if (type === "server_tool_use") return toCallPart(String(id), input);
  if (!Array.isArray(content)) {
    const { error_code: errorCode = "unavailable" } = (content ?? {}) as Fields;
    return toResultPart(String(callId), { type: "error-json", value: { errorCode } });
  }
  const value = (content as readonly Fields[]).map(
    ({ url = "", title = null, page_age = null, encrypted_content = "" }) => ({
      type: "web_search_result",
      url,
      title,
      pageAge: page_age,
      encryptedContent: encrypted_content,
    }),
  );
  return toResultPart(String(callId), { type: "json", value });
}

const toText = (value: unknown, otherwise = ""): string => (typeof value === "string" ? value : otherwise);

const actionTypes: Readonly<Record<string, string>> = { open_page: "openPage", find_in_page: "findInPage" };

/** Converts an item of OpenAI's search; the package writes it from the result. */
export function toSearchItem({ id, action }: Data): Part[] {
  const { type, ...fields } = action as Fields;
  const value = { action: { ...fields, type: actionTypes[toText(type)] ?? toText(type) } };
  return [toCallPart(String(id), {}), toResultPart(String(id), { type: "json", value })];
}

/** Converts a call that Google ran, or its response. */
export function toGoogleSearchPart({ toolCall, toolResponse, thoughtSignature }: Data): Part {
  const { toolType: serverToolType = "", id, args = {}, response = {} } = (toolCall ?? toolResponse) as Fields;
  const callId = toText(id, "search");
  const google = {
    serverToolCallId: callId,
    serverToolType,
    ...(thoughtSignature !== undefined && { thoughtSignature: toText(thoughtSignature) }),
  };
  const part =
    toolCall === undefined ? toResultPart(callId, { type: "json", value: response }) : toCallPart(callId, args);
  return { ...part, toolName: `server:${toText(serverToolType)}`, providerOptions: { google } } as Part;
}

/** Removes calls without their result, and the reverse: providers refuse them, except a paused call at the very end. */
export function withoutOpenSearches(prompt: readonly LanguageModelV4Message[]): LanguageModelV4Message[] {
  return prompt.flatMap((message): LanguageModelV4Message[] => {
    if (message.role !== "assistant") return [message];
    const calls = toIds(message.content, isSearchCall);
    const results = toIds(message.content, ({ type }) => type === "tool-result");
    const content = message.content.filter((part) => {
      if (isSearchCall(part)) return results.has(part.toolCallId) || message === prompt.at(-1);
      return part.type !== "tool-result" || calls.has(part.toolCallId);
    });
    if (content.length === message.content.length) return [message];
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}

function isSearchCall(part: Part): part is Extract<Part, { type: "tool-call" }> {
  return part.type === "tool-call" && part.providerExecuted === true;
}

function toIds(content: readonly Part[], matches: (part: Part) => boolean): ReadonlySet<string> {
  return new Set(content.flatMap((part) => (matches(part) && "toolCallId" in part ? [part.toolCallId] : [])));
}
