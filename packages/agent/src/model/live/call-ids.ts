/** Ids of tool calls as a provider takes them. */
import type { RequestWriterName } from "./provider-data.ts";
import type { ModelMessage } from "../provider.ts";

/** Of the ids that we make; what any protocol allows. */
const longest = 40;

const wordCharacters = /^[\w-]+$/;
const visibleCharacters = /^[\x21-\x7E]+$/;

/** What each protocol allows. OpenAI's chat completions refuse ids longer than 40. */
const rules: Readonly<Record<RequestWriterName, { readonly characters: RegExp; readonly longest: number }>> = {
  "anthropic-messages": { characters: wordCharacters, longest: 64 },
  "openai-responses": { characters: wordCharacters, longest: 64 },
  "openai-chat": { characters: visibleCharacters, longest },
  package: { characters: wordCharacters, longest },
  gemini: { characters: visibleCharacters, longest: 64 },
};

/**
 * An id for each call of a history, by call id.
 * The provider's own where it gave one, it fits and none before it has it: some count from 0 in every turn, and
 * Anthropic refuses a history with equal ids. A pure function of the history up to the call, so that caches hold.
 */
export function toWireCallIds(
  messages: readonly ModelMessage[],
  writer: RequestWriterName,
): ReadonlyMap<string, string> {
  const ids = new Map<string, string>();
  const taken = new Set<string>();
  const rule = rules[writer];
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    for (const part of message.content) {
      if (part.type !== "tool_call") continue;
      const own = part.providerCallId ?? "";
      const isAllowed = own.length <= rule.longest && rule.characters.test(own);
      const id = isAllowed && !taken.has(own) ? own : toShortId(part.callId);
      taken.add(id);
      ids.set(part.callId, id);
    }
  }
  return ids;
}

/** A UUID without its dashes is as unique. What is longer still keeps its end, where counters stand. */
function toShortId(callId: string): string {
  if (callId.length <= longest) return callId;
  return callId.replaceAll("-", "").slice(-longest);
}
