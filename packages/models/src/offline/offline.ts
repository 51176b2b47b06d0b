/** The embedded model: rules instead of a network, to try Sheaf without a key. It sees only the request. */
import { toDocumentType } from "@sheaf/documents";
import type { ModelEvent } from "@sheaf/protocol";
import { estimateUsage } from "../estimated-usage.ts";
import type { Model, ModelRequest } from "../provider.ts";
import { readConversation, type PlannedCall } from "./conversation.ts";
import { toNextStep } from "./jobs.ts";

/** Matches a word, or a few wide characters. */
const word = /\s*(?:[\u3000-\u9fff\uff00-\uffef]{1,6}|[^\s\u3000-\u9fff\uff00-\uffef]+)\s*|\s+/g;

/** Creates a demonstration, deterministic and stateless. docs/reference/offline-model.md lists its abilities. */
export function createOfflineModel(): Model {
  return { id: "offline", name: "Sheaf Offline", apiKeySource: "none", attachmentTypes: [], stream: streamAnswer };
}

async function* streamAnswer(request: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelEvent[]> {
  const { text, calls } = toNextStep(readConversation(request));
  const texts = typeof text === "string" ? toTextGroups(text) : text.map((delta) => [delta]);
  const written = [...texts.flat(), ...calls.map(({ args }) => JSON.stringify(args))].join("");
  const usage = estimateUsage(request, Buffer.byteLength(written));
  const finishReason = calls.length > 0 ? "tool_calls" : "stop";
  const groups: (readonly ModelEvent[])[] = [
    ...texts.map((deltas) => deltas.map((delta): ModelEvent => ({ type: "text_delta", text: delta }))),
    ...calls.flatMap((call) => toCallGroups(call, request.newCallId())),
    [{ type: "turn_end", finishReason, rawFinishReason: "", usage, modelMs: 0 }],
  ];
  for (const group of groups) {
    if (signal.aborted) return;
    yield group;
  }
}

function toCallGroups({ toolName, args }: PlannedCall, callId: string): ModelEvent[][] {
  const json = JSON.stringify(args);
  // The pieces keep surrogate pairs whole.
  const deltas = json.match(new RegExp(`.{1,${Math.max(24, Math.ceil(json.length / 8))}}`, "gsu")) ?? [];
  return [
    [{ type: "tool_call_start", callId, toolName, documentType: toDocumentType(toolName) }],
    ...deltas.map((delta): ModelEvent[] => [{ type: "tool_call_arguments_delta", callId, delta }]),
    [{ type: "tool_call_arguments", callId, arguments: args }],
  ];
}

/** Splits a text into deltas of about a word (wide characters in small pieces), in groups of at most a sentence. */
export function toTextGroups(text: string): string[][] {
  const groups: string[][] = [];
  let size = Infinity;
  for (const [delta] of text.matchAll(word)) {
    // One read of a socket has about as many characters.
    if (size >= 64) groups.push([]);
    groups.at(-1)?.push(delta);
    size = /[.!?:。！？：]["'”’)」）]?\s*$|\n\s*$/u.test(delta) ? Infinity : (size >= 64 ? 0 : size) + delta.length;
  }
  return groups;
}
