/** Reads the reasoning of an answer in the very form in which its provider wants it back. */
import type { LanguageModelV4ReasoningPart } from "@ai-sdk/provider";
import type { WireProtocol } from "../endpoint.ts";

/** Reads a body beside the decoder: signed blocks must go back byte for byte, and events join what blocks keep apart. */
export interface ReasoningReader {
  push(chunk: Uint8Array): void;
  /** What has come so far, in order, as parts of the next request. */
  readonly parts: readonly LanguageModelV4ReasoningPart[];
}

const lineFeed = 0x0a;

type Json = Readonly<Record<string, unknown>>;
type ReadPayload = (payload: Json) => void;

interface PartReader {
  /** Words of which one is in every payload that matters; the rest is not parsed. */
  readonly words: readonly string[];
  readonly read: ReadPayload;
}

/** The reader of a protocol; undefined where nothing but the decoder's report is needed. */
export function createReasoningReader(protocol: WireProtocol): ReasoningReader | undefined {
  const parts: LanguageModelV4ReasoningPart[] = [];
  if (protocol === "anthropic-messages") return createLineReader(parts, createAnthropicReader(parts));
  if (protocol === "openai-responses") return createLineReader(parts, createResponsesReader(parts));
  if (protocol === "openai-chat") return createLineReader(parts, createChatReader(parts));
  return undefined;
}

/**
 * Looks for the words in whole lines, as bytes: decoding everything a second time would double the cost of a delta.
 * None of these protocols spreads a payload over several `data:` lines.
 */
function createLineReader(
  parts: readonly LanguageModelV4ReasoningPart[],
  { words, read }: PartReader,
): ReasoningReader {
  let pending: Uint8Array[] = [];
  return {
    parts,
    push(chunk) {
      const end = chunk.lastIndexOf(lineFeed);
      if (end < 0) return void pending.push(chunk);
      const lines = Buffer.concat([...pending, chunk.subarray(0, end)]);
      pending = [chunk.subarray(end + 1)];
      if (!words.some((word) => lines.includes(word))) return;
      for (const line of lines.toString().split("\n")) {
        if (!line.startsWith("data:") || !words.some((word) => line.includes(word))) continue;
        const payload = parseObject(line.slice("data:".length));
        if (payload) read(payload);
      }
    },
  };
}

/** Thinking blocks with their signatures, and blocks that are there in cipher only. */
function createAnthropicReader(parts: LanguageModelV4ReasoningPart[]): PartReader {
  const blocks = new Map<unknown, { text: string; signature: string }>();

  function startBlock(index: unknown, block: Json): void {
    if (block["type"] === "redacted_thinking" && typeof block["data"] === "string") {
      parts.push({ type: "reasoning", text: "", providerOptions: { anthropic: { redactedData: block["data"] } } });
    }
    if (block["type"] === "thinking") {
      blocks.set(index, { text: toText(block["thinking"]), signature: toText(block["signature"]) });
    }
  }

  function endBlock(index: unknown): void {
    const block = blocks.get(index);
    blocks.delete(index);
    if (!block || block.signature === "") return;
    parts.push({
      type: "reasoning",
      text: block.text,
      providerOptions: { anthropic: { signature: block.signature } },
    });
  }

  return {
    words: ["thinking", "signature_delta", "content_block_stop", "message_start"],
    read(payload) {
      const { type, index } = payload;
      const delta = toObject(payload["delta"]);
      const block = blocks.get(index);
      if (type === "content_block_start") startBlock(index, toObject(payload["content_block"]));
      else if (type === "content_block_stop") endBlock(index);
      // The answer begins again: what its first attempt thought belongs to nothing.
      else if (type === "message_start") parts.length = 0;
      else if (block && delta["type"] === "thinking_delta") block.text += toText(delta["thinking"]);
      else if (block && delta["type"] === "signature_delta") block.signature += toText(delta["signature"]);
    },
  };
}

/** Reasoning items with their cipher; without one there is nothing to send back. */
function createResponsesReader(parts: LanguageModelV4ReasoningPart[]): PartReader {
  return {
    words: ["encrypted_content"],
    read(payload) {
      const item = toObject(payload["item"]);
      if (payload["type"] !== "response.output_item.done" || item["type"] !== "reasoning") return;
      const { id, encrypted_content: cipher } = item;
      if (typeof id !== "string" || typeof cipher !== "string") return;
      const options = { openai: { itemId: id, reasoningEncryptedContent: cipher } };
      const summary = Array.isArray(item["summary"]) ? item["summary"] : [];
      const texts = summary.map((entry) => toText(toObject(entry)["text"])).filter((text) => text !== "");
      for (const text of texts.length === 0 ? [""] : texts) {
        parts.push({ type: "reasoning", text, providerOptions: options });
      }
    },
  };
}

/** Servers that send `reasoning_content` (DeepSeek, Kimi, GLM) want it back with their calls; others refuse the field. */
function createChatReader(parts: LanguageModelV4ReasoningPart[]): PartReader {
  return {
    words: ['"reasoning_content"'],
    read(payload) {
      const choices = Array.isArray(payload["choices"]) ? payload["choices"] : [];
      const text = toText(toObject(toObject(choices[0])["delta"])["reasoning_content"]);
      if (text === "") return;
      const [part] = parts;
      if (part) part.text += text;
      else parts.push({ type: "reasoning", text });
    },
  };
}

function parseObject(text: string): Json | undefined {
  try {
    return toObject(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function toObject(value: unknown): Json {
  return typeof value === "object" && value !== null ? (value as Json) : {};
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}
