import type { ModelEvent } from "@sheaf/protocol";
import { createAnthropicMessagesReader } from "./anthropic-messages.ts";
import { createBodyDecoder, type BodyMessage } from "./body-decoder.ts";
import { createChunkDecoder } from "./chunk-decoder.ts";
import { createCohereChatReader } from "./cohere-chat.ts";
import { createGeminiReader } from "./gemini.ts";
import type { ModelStreamReport } from "./model-stream-report.ts";
import { createOllamaChatReader } from "./ollama-chat.ts";
import { createOpenAiChatReader } from "./openai-chat.ts";
import { createOpenAiResponsesReader } from "./openai-responses.ts";
import { formatJson, isJsonObject, parseJson, type JsonObject } from "./read-json.ts";
import { createTurnWriter, type CreatePayloadReader } from "./turn-writer.ts";
import {
  toAnthropicUsage,
  toCohereUsage,
  toGeminiUsage,
  toOllamaUsage,
  toOpenAiChatUsage,
  toOpenAiResponsesUsage,
  type ToUsage,
} from "./usage.ts";

/** The known wire protocols. For `markdown`, the body is the model's text. */
export const modelStreamFormats = [
  "openai-chat",
  "openai-responses",
  "anthropic-messages",
  "gemini",
  "ollama-chat",
  "cohere-chat",
  "markdown",
] as const;

/** The wire protocol of an answer. */
export type ModelStreamFormat = (typeof modelStreamFormats)[number];

export interface ModelStreamOptions {
  /**
   * Makes the ids of tool calls, unique in the conversation (N29).
   * Default: `call_001`, `call_002` …, unique in this one body only.
   */
  readonly newCallId: () => string;
  /** Readers of `provider_data` events, as in their field. Default: the format. */
  readonly origin: string;
  /** True to ignore everything after an unreadable payload, so that no text has a gap. Default: false. */
  readonly endsWhereBroken: boolean;
}

/** Turns the body of a provider's answer into the events of one turn. Never throws, with any body. */
export interface ModelStreamDecoder {
  /** Takes one chunk. The total events do not depend on the cuts (N25); for `markdown` only their joined text. */
  push(chunk: Uint8Array | string): ModelEvent[];
  /**
   * Ends the body. Returns the last events, of which the very last is the only `turn_end`. Its `modelMs` is 0, since
   * the decoder has no clock. It ignores any later chunk.
   */
  end(): ModelEvent[];
  /** The body's other content so far. */
  readonly report: ModelStreamReport;
}

interface Protocol {
  readonly createReader: CreatePayloadReader;
  readonly toUsage: ToUsage;
}

const protocols: Readonly<Record<Exclude<ModelStreamFormat, "markdown">, Protocol>> = {
  "openai-chat": { createReader: createOpenAiChatReader, toUsage: toOpenAiChatUsage },
  "openai-responses": { createReader: createOpenAiResponsesReader, toUsage: toOpenAiResponsesUsage },
  "anthropic-messages": { createReader: createAnthropicMessagesReader, toUsage: toAnthropicUsage },
  gemini: { createReader: createGeminiReader, toUsage: toGeminiUsage },
  "ollama-chat": { createReader: createOllamaChatReader, toUsage: toOllamaUsage },
  "cohere-chat": { createReader: createCohereChatReader, toUsage: toCohereUsage },
};

/** Creates a decoder for one body, which is one turn. */
export function createModelStreamDecoder(
  format: ModelStreamFormat,
  options: Partial<ModelStreamOptions> = {},
): ModelStreamDecoder {
  if (format === "markdown") return createMarkdownDecoder();
  return createPayloadDecoder(protocols[format], {
    newCallId: createCallCounter(),
    origin: format,
    endsWhereBroken: false,
    ...options,
  });
}

function createCallCounter(): () => string {
  let count = 0;
  return () => {
    count += 1;
    return `call_${String(count).padStart(3, "0")}`;
  };
}

function createMarkdownDecoder(): ModelStreamDecoder {
  const chunks = createChunkDecoder();
  const turn = createTurnWriter({ newCallId: createCallCounter(), origin: "markdown", toUsage: toOpenAiChatUsage });
  return {
    push(chunk) {
      turn.append("text", chunks.push(chunk));
      return turn.takeEvents();
    },
    end() {
      turn.append("text", chunks.end());
      turn.setFinish("stop");
      turn.addEnd("end of body");
      turn.endTurn();
      return turn.takeEvents();
    },
    report: turn.report,
  };
}

function createPayloadDecoder(
  { createReader, ...protocol }: Protocol,
  options: ModelStreamOptions,
): ModelStreamDecoder {
  const body = createBodyDecoder({ onPage: () => turn.addError(pageError, pageError) });
  const turn = createTurnWriter({ ...options, ...protocol });
  const reader = createReader(turn);

  function readMessage({ data, event }: BodyMessage): void {
    const text = data.trim();
    const payload = parseJson(text);
    // Some servers omit the blank lines between events.
    const lines = payload === undefined && text.includes("\n") ? text.split("\n") : [];
    if (lines.length > 0 && lines.every(isPayload))
      for (const line of lines) readText({ data: line, event }, parseJson(line));
    else readText({ data: text, event }, payload);
  }

  function readText({ data: text, event }: BodyMessage, payload: unknown): void {
    if (text === "" || (options.endsWhereBroken && turn.report.broken > 0)) return;
    if (text === "[DONE]") return turn.addEnd("[DONE]");
    const isObject = isJsonObject(payload);
    turn.countPayload(isObject, payload === undefined && /[{"]/.test(text));
    if (!isObject) return;
    const error = isError(payload.error) ? payload.error : findBareError(payload);
    if (error !== undefined) turn.addError(error, payload);
    reader.read(payload, event);
  }

  return {
    push(chunk) {
      body.push(chunk).forEach(readMessage);
      return turn.takeEvents();
    },
    end() {
      body.end().forEach(readMessage);
      reader.end?.();
      turn.endTurn();
      return turn.takeEvents();
    },
    report: turn.report,
  };
}

/** The error for a web page of a proxy or a login, instead of a provider's answer. */
const pageError = {
  message:
    "the answer is a web page and not an event stream: is there a proxy in between, or is the base URL that of another service?",
};

/** True for a payload in one line of an event that has several. */
function isPayload(line: string): boolean {
  const text = line.trim();
  return text === "" || text === "[DONE]" || isJsonObject(parseJson(text));
}

/** Finds the error of a gateway: an object with only a `detail` (FastAPI) or a `message` (Cohere). */
function findBareError({ detail, message, type, choices, ...rest }: JsonObject): JsonObject | undefined {
  if (type !== undefined || choices !== undefined) return undefined;
  const words = typeof detail === "object" && detail !== null ? formatJson(detail) : (detail ?? message);
  return typeof words === "string" && words !== "" ? { ...rest, message: words } : undefined;
}

/** True for an error. Every protocol has it in the same field, as an object or a text. */
function isError(error: unknown): boolean {
  return isJsonObject(error) || (typeof error === "string" && error !== "");
}
