/** The recorded bodies of providers, and what is known of each. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ModelStreamFormat } from "../../src/model-streams/model-stream-decoder.ts";

/** A row of `providers/expected.jsonl`. */
interface RecordedRow {
  readonly file: string;
  readonly protocol: string;
  readonly text: string;
  readonly reasoning: string;
  readonly refusal: string;
  readonly toolCalls: readonly RecordedToolCall[];
  readonly serverItems: readonly Record<string, unknown>[];
  readonly finish: string | null;
  readonly ended: string | null;
  readonly usage: Record<string, unknown> | null;
  readonly errors: readonly Record<string, unknown>[];
  readonly events: number;
  readonly unparsable: number;
}

export interface RecordedToolCall {
  readonly id: string | null;
  readonly name: string;
  readonly arguments: string | null;
  readonly partial?: readonly {
    readonly jsonPath: string;
    readonly stringValue?: string;
    readonly numberValue?: number;
  }[];
}

const formats: ReadonlyMap<string, ModelStreamFormat> = new Map(
  (["openai-chat", "openai-responses", "anthropic-messages", "gemini", "ollama-chat", "cohere-chat"] as const).map(
    (format) => [format, format],
  ),
);

/** Rows without a protocol of their own, by the provider in their file's name. */
const fragments: readonly (readonly [start: string, format: ModelStreamFormat])[] = [
  ["quirks/groq__groq-chat", "openai-chat"],
  ["quirks/openai__openai-chat", "openai-chat"],
  ["quirks/openai-compatible__openai-compatible-chat", "openai-chat"],
  ["quirks/gemini-cli__server", "gemini"],
  ["derived/gemini__", "gemini"],
];

function findFormat({ protocol, file }: RecordedRow): ModelStreamFormat | undefined {
  return formats.get(protocol) ?? fragments.find(([start]) => file.startsWith(start))?.[1];
}

function readBody(folder: string, file: string): Uint8Array {
  const bytes = readFileSync(join(folder, file));
  if (file.endsWith(".chunks.json")) {
    const quirk: { readonly chunks: readonly string[] } = JSON.parse(bytes.toString());
    return Buffer.from(quirk.chunks.join(""));
  }
  if (!file.endsWith(".jsonl")) return bytes;
  const lines = bytes
    .toString()
    .split("\n")
    .filter((line) => line.trim() !== "");
  return Buffer.from(lines.map((line) => `data: ${line}\n\n`).join(""));
}

/** A body whose format we decode. */
interface RecordedBody {
  readonly row: RecordedRow;
  readonly format: ModelStreamFormat;
  readonly body: Uint8Array;
}

/** All bodies in the folder `providers` of the fixtures; `others`: files of another interface. */
export function loadRecordedBodies(folder: string): {
  readonly bodies: readonly RecordedBody[];
  readonly others: readonly string[];
} {
  const lines = readFileSync(join(folder, "expected.jsonl"), "utf8").trim().split("\n");
  const bodies: RecordedBody[] = [];
  const others: string[] = [];
  for (const line of lines) {
    const row = JSON.parse(line) as RecordedRow;
    const format = findFormat(row);
    if (format === undefined) others.push(row.file);
    else bodies.push({ row, format, body: readBody(folder, row.file) });
  }
  return { bodies, others };
}
