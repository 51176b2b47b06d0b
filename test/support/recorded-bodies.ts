/** Recorded bodies of providers, for servers that play them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Model name, and an answer that ends a run ("Done."), by protocol. */
export const endingAnswers: Readonly<Record<string, readonly [string, string]>> = {
  "openai-chat": [
    "openai-chat/m",
    'data: {"choices":[{"index":0,"delta":{"content":" Done."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
  ],
  "openai-responses": [
    "openai/m",
    'data: {"type":"response.output_text.delta","item_id":"i","output_index":0,"content_index":0,"delta":" Done."}\n\ndata: {"type":"response.completed","response":{"id":"r","status":"completed","output":[],"usage":{"input_tokens":1,"output_tokens":1}}}\n\n',
  ],
  "anthropic-messages": [
    "anthropic/m",
    'data: {"type":"message_start","message":{"id":"m","usage":{"input_tokens":1,"output_tokens":0}}}\n\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" Done."}}\n\ndata: {"type":"content_block_stop","index":0}\n\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}\n\ndata: {"type":"message_stop"}\n\n',
  ],
  gemini: [
    "google/m",
    'data: {"candidates":[{"content":{"role":"model","parts":[{"text":" Done."}]},"finishReason":"STOP"}]}\n\n',
  ],
};

/** The body of a recording as it went over the wire. */
export function readBody(folder: string, file: string): Buffer {
  const bytes = readFileSync(join(folder, file));
  if (file.endsWith(".chunks.json")) {
    const { chunks } = JSON.parse(bytes.toString()) as { chunks: string[] };
    return Buffer.from(chunks.join(""));
  }
  if (!file.endsWith(".jsonl")) return bytes;
  const lines = bytes
    .toString()
    .split("\n")
    .filter((line) => line.trim() !== "");
  return Buffer.from(lines.map((line) => `data: ${line}\n\n`).join(""));
}

/** Pieces of so many bytes. */
export function cutBody(body: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(body.length / size) }, (_, index) =>
    body.subarray(index * size, (index + 1) * size),
  );
}
