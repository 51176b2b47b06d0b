import {
  formatJson,
  isJsonObject,
  readFirstString,
  readObject,
  readObjects,
  readString,
  type JsonObject,
} from "./read-json.ts";
import { imageName } from "./server-call.ts";
import type { ToolCallWriter } from "./tool-call-writer.ts";
import type { PayloadReader, TurnWriter } from "./turn-writer.ts";

/**
 * Reads chat completions of OpenAI and of the many compatible servers: streamed chunks, whole answers (`message` for
 * `delta`) and the older text completions. It ignores all choices but 0.
 */
export function createOpenAiChatReader(turn: TurnWriter): PayloadReader {
  const toolCalls = createToolCallTable(turn);
  const reasoning = createChatReasoning(turn);
  /** The text of `message` next to empty deltas, as far as it was read; undefined once a delta has text. */
  let grown: string | undefined = "";
  let found: readonly JsonObject[] = [];

  function readDelta(delta: JsonObject): void {
    turn.append("reasoning", readReasoning(delta));
    reasoning.read(delta);
    readContent(turn, delta.content);
    turn.append("refusal", readString(delta.refusal));
    for (const { image_url: image } of readObjects(delta.images)) readImage(turn, readObject(image).url);
    turn.addSources(readObjects(delta.annotations).map(({ url_citation: cited }) => readObject(cited)));
    for (const part of readObjects(delta.tool_calls)) toolCalls.read(part);
    if (isJsonObject(delta.function_call)) toolCalls.read({ index: "function_call", function: delta.function_call });
  }

  function readChoice(choice: JsonObject): void {
    const isWhole = !isJsonObject(choice.delta) && isJsonObject(choice.message);
    const delta = readObject(isWhole ? choice.message : choice.delta);
    readDelta(delta);
    // Together repeats `delta.content` in the `text` field of the older completions (BerriAI/litellm#8675).
    if (!hasContent(delta)) turn.append("text", readString(choice.text));
    if (!isWhole) readGrowing(hasContent(delta), readObject(choice.message));
    turn.setFinish(choice.finish_reason);
    if (isWhole) turn.addEnd("message");
  }

  /** Reads the growing text of `message` (Perplexity), which some answers have only there. */
  function readGrowing(isInDelta: boolean, message: JsonObject): void {
    if (isInDelta) grown = undefined;
    const content = readString(message.content);
    if (grown === undefined || !content.startsWith(grown)) return;
    turn.append("text", content.slice(grown.length));
    grown = content;
  }

  return {
    read(payload) {
      turn.identify(payload.id, payload.model);
      if (payload.object === "error" && !isJsonObject(payload.error)) turn.addError(payload, payload);
      for (const choice of readObjects(payload.choices)) {
        if ((choice.index ?? 0) === 0) readChoice(choice);
        else turn.addOther(choice);
      }
      found = readSources(payload) ?? found;
      turn.setUsage(readObject(payload.x_groq).usage);
      turn.setUsage(payload.usage);
    },
    end() {
      reasoning.end(toolCalls.hasCalls);
      turn.addSources(found);
    },
  };
}

/** Reads reasoning, for which servers have different names; some send the same text under two names. */
function readReasoning(delta: JsonObject): string {
  const reasoning = readFirstString(delta.reasoning_content, delta.reasoning, delta.thinking);
  if (reasoning !== "") return reasoning;
  const details = readObjects(delta.reasoning_details);
  return details.map((detail) => readFirstString(detail.text, detail.summary)).join("");
}

function hasContent({ content }: JsonObject): boolean {
  return readString(content) !== "" || readObjects(content).length > 0;
}

/** Reads a text, or parts (Mistral), some of which may be thoughts. */
function readContent(turn: TurnWriter, content: unknown): void {
  turn.append("text", readString(content));
  for (const part of readObjects(content)) {
    turn.append("text", readString(part.text));
    turn.append("reasoning", readString(part.thinking));
    for (const thought of readObjects(part.thinking)) turn.append("reasoning", readString(thought.text));
  }
}

/** Reads an image that the model made (OpenRouter), as a `data:` address. */
function readImage(turn: TurnWriter, url: unknown): void {
  const [, mimeType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(readString(url)) ?? [];
  turn.createServerCall(imageName, "").end(mimeType === undefined ? readString(url) : { mimeType, data });
}

/** Reads the pages to which numbers in the text refer; Perplexity lists them in every payload. */
function readSources({ search_results: results, citations }: JsonObject): readonly JsonObject[] | undefined {
  if (Array.isArray(results)) return readObjects(results);
  return Array.isArray(citations) ? citations.map((url: unknown) => ({ url })) : undefined;
}

interface ToolCallTable {
  /** Takes one entry of `tool_calls`. */
  read(part: JsonObject): void;
  readonly hasCalls: boolean;
}

/**
 * Creates a table of calls by index, or else by a new id. A delta without both continues the last call. Some servers
 * give all calls index 0, or no index and no id (gateways to Gemini, small local servers). So a whole call, with name
 * and input, is a new one if the call that it would continue is complete and cannot grow.
 */
function createToolCallTable(turn: TurnWriter): ToolCallTable {
  const byIndex = new Map<unknown, ToolCallWriter>();
  const byId = new Map<string, ToolCallWriter>();
  let last: ToolCallWriter | undefined;

  function find(index: unknown, id: string): ToolCallWriter | undefined {
    if (index !== undefined && index !== null) return byIndex.get(index);
    return id === "" ? last : byId.get(id);
  }

  return {
    read(part) {
      const { name, input, isText } = readFunction(part);
      const id = readString(part.id);
      const found = find(part.index, id);
      const isWholeCall = name !== "" && input.trim() !== "";
      const isAnother = found?.isComplete === true && isWholeCall && (id === "" || id !== found.providerCallId);
      const toolCall = found === undefined || isAnother ? turn.createToolCall(isText ? "text" : "json") : found;
      byIndex.set(part.index, toolCall);
      if (id !== "") byId.set(id, toolCall);
      last = toolCall;
      toolCall.describe(id, name);
      toolCall.append(input);
      addSignature(turn, part, toolCall);
    },
    get hasCalls() {
      return last !== undefined;
    },
  };
}

/** Adds the signature of a call, which Google's chat completions require in the next request. */
function addSignature(turn: TurnWriter, part: JsonObject, { callId }: ToolCallWriter): void {
  const signature = readString(readObject(readObject(part.extra_content).google).thought_signature);
  if (signature === "" || callId === undefined) return;
  turn.addSignature(signature, callId);
  turn.addProviderData({ thoughtSignature: signature }, callId);
}

/** Reads a `function` with JSON arguments, or a `custom` call with free text. Gateways add the other field, empty. */
function readFunction(part: JsonObject): { name: string; input: string; isText: boolean } {
  if (isJsonObject(part.custom) && readString(readObject(part.function).name) === "") {
    return { name: readString(part.custom.name), input: readString(part.custom.input), isText: true };
  }
  const called = readObject(part.function);
  const input = isJsonObject(called.arguments) ? formatJson(called.arguments) : called.arguments;
  return { name: readString(called.name), input: readString(input), isText: false };
}

/** Collects the reasoning that some servers require in the message that called tools. */
interface ChatReasoning {
  read(delta: JsonObject): void;
  /** Ends the turn. Adds the reasoning as provider data, if the server requires it. */
  end(hasCalls: boolean): void;
}

/**
 * Reads `reasoning_content` (DeepSeek, Kimi, GLM) and `reasoning_details` (OpenRouter and other gateways), joined in
 * the form of the next request. Signed or encrypted details return even without a call. No server requires reasoning
 * under other names.
 */
function createChatReasoning(turn: TurnWriter): ChatReasoning {
  const details: JsonObject[] = [];
  let content = "";
  let isSealed = false;

  function readDetail(detail: JsonObject): void {
    isSealed ||= readString(detail.signature) !== "" || readString(detail.data) !== "";
    const last = details.at(-1);
    const joined = last && joinDetails(last, detail);
    if (joined) details[details.length - 1] = joined;
    else details.push(detail);
  }

  return {
    read(delta) {
      content += readString(delta.reasoning_content);
      if (delta.reasoning_details !== undefined) readObjects(delta.reasoning_details).forEach(readDetail);
    },
    end(hasCalls) {
      const data = {
        ...(hasCalls && content !== "" && { reasoning_content: content }),
        ...((isSealed || (hasCalls && details.length > 0)) && { reasoning_details: details }),
      };
      if (Object.keys(data).length > 0) turn.addProviderData(data);
    },
  };
}

const joinedFields: Readonly<Record<string, string>> = { "reasoning.text": "text", "reasoning.summary": "summary" };

/** Joins two pieces of one entry; undefined if they are two entries. Later fields fill in missing ones. */
function joinDetails(first: JsonObject, second: JsonObject): JsonObject | undefined {
  const field = joinedFields[readString(first.type)];
  if (field === undefined || first.type !== second.type || first.index !== second.index) return undefined;
  const known = Object.entries(second).filter(([, value]) => value !== null && value !== "");
  return { ...first, ...Object.fromEntries(known), [field]: readString(first[field]) + readString(second[field]) };
}
