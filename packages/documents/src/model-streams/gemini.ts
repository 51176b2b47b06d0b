import { createInteractionReader, isInteraction } from "./gemini-interactions.ts";
import { createGeminiPartialArguments, type GeminiPartialArguments } from "./gemini-partial-arguments.ts";
import { formatJson, isJsonObject, readObject, readObjects, readString, type JsonObject } from "./read-json.ts";
import { imageName, searchName, type ServerCall } from "./server-call.ts";
import type { ToolCallWriter } from "./tool-call-writer.ts";
import type { PayloadReader, TurnWriter } from "./turn-writer.ts";

/** A call whose arguments continue in the next payload. */
interface OpenCall {
  readonly toolCall: ToolCallWriter;
  readonly partialArguments: GeminiPartialArguments;
}

/** Fields that describe a part without being its content. */
const partMarks: ReadonlySet<string> = new Set(["thought", "thoughtSignature", "videoMetadata", "partMetadata"]);

const serverParts: ReadonlySet<string> = new Set(["executableCode", "codeExecutionResult", "inlineData"]);

/**
 * Reads Gemini's `generateContent`, streamed or whole, from Google AI, Vertex or the Code Assist wrapping (`response`),
 * and answers of Google's Interactions API. It ignores all candidates but 0. Calls are complete, except that Vertex can
 * stream their arguments, which it rebuilds.
 */
export function createGeminiReader(turn: TurnWriter): PayloadReader {
  const toolCalls = createGeminiToolCalls(turn);
  const searches = createGeminiSearches(turn);
  const interactions = createInteractionReader(turn);
  let code: ServerCall | undefined;

  /** Reads code that Google runs, its result, or an image. */
  function readServerPart({ executableCode, codeExecutionResult, inlineData }: JsonObject): void {
    if (isJsonObject(executableCode)) {
      const { id, language, code: text } = executableCode;
      code = turn.createServerCall("code_execution", id);
      code.endArguments(formatJson({ language, code: text }));
    }
    if (isJsonObject(codeExecutionResult)) code?.end({ output: "", ...codeExecutionResult });
    const { mimeType } = readObject(inlineData);
    if (readString(mimeType).startsWith("image/")) turn.createServerCall(imageName, "").end(inlineData);
  }

  function readPart(part: JsonObject): void {
    if (typeof part.text === "string") {
      if (part.thought === true) turn.append("reasoning", part.text);
      else turn.append("text", part.text);
    }
    if (isJsonObject(part.functionCall)) toolCalls.read(part.functionCall, part.thoughtSignature);
    else if (isSearchPart(part)) searches.read(part);
    else {
      addTextSignature(turn, part);
      readServerPart(part);
      const type = Object.keys(part).find((key) => key !== "text" && !partMarks.has(key));
      if (type !== undefined) turn.addServerItem({ type });
      if (type !== undefined && !serverParts.has(type)) turn.addOther(part);
    }
  }

  function readCandidate(candidate: JsonObject): void {
    for (const part of readObjects(readObject(candidate.content).parts)) readPart(part);
    searches.readGrounding(readObject(candidate.groundingMetadata));
    if (readString(candidate.finishReason) === "") return;
    toolCalls.endOpen();
    searches.endOpen();
    turn.setFinish(candidate.finishReason);
    turn.addEnd("finishReason");
  }

  return {
    read(payload) {
      if (isInteraction(payload)) return interactions.read(payload);
      const answer = isJsonObject(payload.response) ? payload.response : payload;
      turn.identify(answer.responseId, answer.modelVersion);
      const candidates = readObjects(answer.candidates);
      for (const candidate of candidates) {
        if ((candidate.index ?? 0) === 0) readCandidate(candidate);
        else turn.addOther(candidate);
      }
      turn.setUsage(answer.usageMetadata);
      const blockReason = readString(readObject(answer.promptFeedback).blockReason);
      if (blockReason !== "" && candidates.length === 0) {
        turn.setFinish(blockReason, "content_filter");
        turn.addEnd("blockReason");
      }
    },
    end() {
      toolCalls.breakOff();
      interactions.end();
    },
  };
}

/** True for a call of Google's search, or its response. Google's other tools are server items only. */
function isSearchPart({ toolCall, toolResponse }: JsonObject): boolean {
  const { toolType } = isJsonObject(toolCall) ? toolCall : readObject(toolResponse);
  return readString(toolType).startsWith("GOOGLE_SEARCH");
}

interface GeminiSearches {
  /** Takes a part with a call that Google runs, or its response; both return to Google. */
  read(part: JsonObject): void;
  /** Takes the sources and queries of all searches; a later list replaces an earlier one. */
  readGrounding(grounding: JsonObject): void;
  endOpen(): void;
}

/** Reads Google's search (N69). The sources of all searches arrive together, mostly with the end of the answer. */
function createGeminiSearches(turn: TurnWriter): GeminiSearches {
  let open: ServerCall[] = [];
  let queries: readonly unknown[] = [];
  let sources: readonly JsonObject[] = [];
  let calls = 0;
  let callId = "";

  function start(id: unknown, asked: unknown): void {
    const search = turn.createServerCall(searchName, id);
    search.endArguments(formatJson(asked));
    open.push(search);
  }

  return {
    read({ toolCall, toolResponse, thoughtSignature }) {
      const signature = readString(thoughtSignature);
      turn.addSignature(signature);
      turn.addServerItem({ type: isJsonObject(toolCall) ? "toolCall" : "toolResponse" });
      const { id, args } = readObject(toolCall);
      if (isJsonObject(toolCall)) {
        start(id, readObject(args));
        callId = readString(id) || `search_${(calls += 1)}`;
      }
      // A response belongs to the call before it, whatever its id.
      const data = isJsonObject(toolCall)
        ? { toolCall: { ...toolCall, id: callId } }
        : { toolResponse: { ...readObject(toolResponse), id: callId } };
      turn.addProviderData({ ...data, ...(signature !== "" && { thoughtSignature: signature }) });
    },
    readGrounding({ webSearchQueries, groundingChunks }) {
      if (Array.isArray(webSearchQueries)) queries = webSearchQueries;
      const found = readObjects(groundingChunks).map(({ web }) => readObject(web));
      if (found.length > 0) sources = found.map(({ uri, title }) => ({ url: uri, title }));
    },
    endOpen() {
      if (open.length === 0 && queries.length > 0) start("", { queries });
      for (const [index, search] of open.entries()) search.end(index === open.length - 1 ? sources : []);
      open = [];
      queries = [];
    },
  };
}

/** Adds a signature. A thought returns whole; for a text the signature is enough, since it follows right after. */
function addTextSignature(turn: TurnWriter, part: JsonObject): void {
  const thoughtSignature = readString(part.thoughtSignature);
  if (thoughtSignature === "") return;
  turn.addSignature(thoughtSignature);
  const thought = part.thought === true ? { thought: true, text: readString(part.text) } : {};
  turn.addProviderData({ ...thought, thoughtSignature });
}

function addCallSignature(turn: TurnWriter, signature: unknown, callId: string): void {
  const thoughtSignature = readString(signature);
  if (thoughtSignature === "") return;
  turn.addSignature(thoughtSignature, callId);
  turn.addProviderData({ thoughtSignature }, callId);
}

interface GeminiToolCalls {
  read(functionCall: JsonObject, signature: unknown): void;
  /** Ends the open call, if any, as complete. */
  endOpen(): void;
  /** Ends the open call, whose arguments are incomplete since the body broke off, and must not look complete (N30). */
  breakOff(): void;
}

function createGeminiToolCalls(turn: TurnWriter): GeminiToolCalls {
  let open: OpenCall | undefined;

  function endOpen(): void {
    open?.toolCall.end(open.partialArguments.formatArguments());
    open = undefined;
  }

  /** Starts a call with a name. Without a name, the open call continues. */
  function startCall(functionCall: JsonObject, signature: unknown): OpenCall {
    endOpen();
    const toolCall = turn.createToolCall("json");
    toolCall.describe(functionCall.id, functionCall.name);
    if (toolCall.callId !== undefined) addCallSignature(turn, signature, toolCall.callId);
    return { toolCall, partialArguments: createGeminiPartialArguments() };
  }

  return {
    read(functionCall, signature) {
      const isNew = readString(functionCall.name) !== "" || open === undefined;
      if (isNew && Object.keys(functionCall).length === 0) return;
      const call = isNew || open === undefined ? startCall(functionCall, signature) : open;
      open = call;
      call.partialArguments.add(functionCall.partialArgs);
      if (isJsonObject(functionCall.args)) call.toolCall.end(formatJson(functionCall.args) ?? "");
      if (functionCall.willContinue !== true) endOpen();
    },
    endOpen,
    breakOff: () => open?.toolCall.end(open.partialArguments.formatParts()),
  };
}
