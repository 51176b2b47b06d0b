/** The embedded model: rules instead of a network, so that Sheaf can be tried without a key. It sees only the request. */
import { toDocumentType } from "@sheaf/documents";
import type { ModelEvent } from "@sheaf/protocol";
import { estimateUsage } from "../estimated-usage.ts";
import type { Model, ModelRequest } from "../provider.ts";
import { toTask } from "./conversation.ts";
import { toNextStep, type PlannedCall } from "./job.ts";

/** A group is about what one read of a socket brings. */
const groupSize = 64;

/**
 * A small rule-based model: deterministic and stateless; it says in its answers what it is.
 * docs/guide/offline-model.md says what it understands. It uses the same loop and tools as any other model.
 */
export function createOfflineModel(): Model {
  return {
    id: "offline",
    name: "Sheaf Offline",
    apiKeySource: "none",
    attachmentTypes: [],
    stream: (request, signal) => streamAnswer(request, signal),
  };
}

async function* streamAnswer(request: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelEvent[]> {
  if (signal.aborted) return;
  const { job, context } = toTask(request);
  const { text, calls } = toNextStep(job, context);
  const texts = typeof text === "string" ? toTextGroups(text) : text.map((delta) => [delta]);
  const groups: (readonly ModelEvent[])[] = [
    ...texts.map((deltas) => deltas.map((delta): ModelEvent => ({ type: "text_delta", text: delta }))),
    ...calls.flatMap((call) => toCallGroups(call, request.newCallId())),
  ];
  for (const group of groups) {
    if (signal.aborted) return;
    yield group;
  }
  if (signal.aborted) return;
  const written = [...texts.flat(), ...calls.map(({ args }) => JSON.stringify(args))];
  const bytes = written.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
  const finishReason = calls.length > 0 ? "tool_calls" : "stop";
  yield [{ type: "turn_end", finishReason, rawFinishReason: "", usage: estimateUsage(request, bytes), modelMs: 0 }];
}

function toCallGroups({ toolName, args }: PlannedCall, callId: string): ModelEvent[][] {
  const json = JSON.stringify(args);
  // A surrogate pair stays whole.
  const deltas = json.match(new RegExp(`.{1,${Math.max(24, Math.ceil(json.length / 8))}}`, "gsu")) ?? [];
  return [
    [{ type: "tool_call_start", callId, toolName, documentType: toDocumentType(toolName) }],
    ...deltas.map((delta): ModelEvent[] => [{ type: "tool_call_arguments_delta", callId, delta }]),
    [{ type: "tool_call_arguments", callId, arguments: args }],
  ];
}

/** Deltas of about a word (wide characters in small pieces), in groups of at most a sentence. Joined they are the text. */
export function toTextGroups(text: string): string[][] {
  const groups: string[][] = [];
  let size = Infinity;
  for (const [delta] of text.matchAll(
    /\s*(?:[\u3000-\u9fff\uff00-\uffef]{1,6}|[^\s\u3000-\u9fff\uff00-\uffef]+)\s*|\s+/g,
  )) {
    if (size >= groupSize) {
      groups.push([]);
      size = 0;
    }
    groups.at(-1)?.push(delta);
    size = /[.!?:。！？：]["'”’)」）]?\s*$|\n\s*$/u.test(delta) ? Infinity : size + delta.length;
  }
  return groups;
}
