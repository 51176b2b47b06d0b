/** The embedded model: rules instead of a network, so that Sheaf can be tried without a key. It sees only the request. */
import { toDocumentType } from "@sheaf/documents";
import type { ModelEvent } from "@sheaf/protocol";
import type { Model, ModelRequest } from "../provider.ts";
import { createUsageEstimator, type UsageEstimator } from "./estimated-usage.ts";
import type { Language } from "./language.ts";
import { chinesePhrases } from "./phrases/chinese.ts";
import { englishPhrases } from "./phrases/english.ts";
import { germanPhrases } from "./phrases/german.ts";
import { japanesePhrases } from "./phrases/japanese.ts";
import type { Phrases } from "./phrases/phrases.ts";
import { turkishPhrases } from "./phrases/turkish.ts";
import { createPromptReader, type PromptReader } from "./reading.ts";
import type { PlannedCall, Step } from "./step.ts";
import { toArgumentDeltas, toTextGroups } from "./stream-text.ts";
import { toTask } from "./task.ts";
import { toStep } from "./to-step.ts";

const phrasesOf: Readonly<Record<Language, Phrases>> = {
  en: englishPhrases,
  de: germanPhrases,
  tr: turkishPhrases,
  ja: japanesePhrases,
  "zh-TW": chinesePhrases,
};

/**
 * A small rule-based model: deterministic, stateless, honest about being one.
 * What it understands is in docs/guide/offline-model.md; it drives the same loop and tools as any other model.
 */
export function createOfflineModel(): Model {
  const reader = createPromptReader();
  const usage = createUsageEstimator();
  return {
    id: "offline",
    name: "Sheaf Offline",
    apiKeySource: "none",
    stream: (request, signal) => streamAnswer(reader, usage, request, signal),
  };
}

async function* streamAnswer(
  reader: PromptReader,
  usage: UsageEstimator,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<readonly ModelEvent[]> {
  if (signal.aborted) return;
  const task = toTask(reader, request);
  const step = toStep(task, phrasesOf[task.language]);
  let bytes = 0;
  for (const group of toTextEvents(step)) {
    if (signal.aborted) return;
    for (const event of group) if (event.type === "text_delta") bytes += Buffer.byteLength(event.text);
    yield group;
  }
  for (const call of step.calls) {
    for (const group of toCallEvents(call, request.newCallId())) {
      if (signal.aborted) return;
      for (const event of group)
        if (event.type === "tool_call_arguments_delta") bytes += Buffer.byteLength(event.delta);
      yield group;
    }
  }
  if (signal.aborted) return;
  const finishReason = step.calls.length > 0 ? "tool_calls" : "stop";
  yield [{ type: "turn_end", finishReason, rawFinishReason: "", usage: usage.estimate(request, bytes), modelMs: 0 }];
}

function toTextEvents({ text }: Step): readonly ModelEvent[][] {
  const groups = typeof text === "string" ? toTextGroups(text) : text.map((delta) => [delta]);
  return groups.map((deltas) => deltas.map((delta): ModelEvent => ({ type: "text_delta", text: delta })));
}

function toCallEvents({ toolName, args }: PlannedCall, callId: string): ModelEvent[][] {
  const deltas = toArgumentDeltas(JSON.stringify(args));
  return [
    [{ type: "tool_call_start", callId, toolName, documentType: toDocumentType(toolName) }],
    ...deltas.map((delta): ModelEvent[] => [{ type: "tool_call_arguments_delta", callId, delta }]),
    [{ type: "tool_call_arguments", callId, arguments: args }],
  ];
}
