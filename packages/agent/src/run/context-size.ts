/** How much of the model's window the conversation takes. */
import type { RunEventBody } from "@sheaf/protocol";

/** UTF-16 units of a token, roughly: code and prose in Latin letters have three to four. */
export const UNITS_PER_TOKEN = 3.5;

export interface ContextSize {
  push(event: RunEventBody): void;
  /** Tokens that the next request would take: what the provider counted last, and an estimate of what came since. */
  readonly tokens: number;
}

/** Follows the events of a conversation. `tokens`: what those before it take. */
export function createContextSize(tokens = 0): ContextSize {
  const size = { tokens };
  const add = (text: string): void => void (size.tokens += toTokens(text));
  return {
    get tokens() {
      return Math.round(size.tokens);
    },
    push(event) {
      if (event.type === "run_start") add(event.prompt);
      else if (event.type === "turn_start") add(event.note ?? "");
      else if (event.type === "tool_result") add(event.output);
      else if (event.type === "compaction") size.tokens = event.tokens;
      else if (event.type === "turn_end" && event.usage.totalTokens > 0 && event.finishReason !== "error") {
        size.tokens = event.usage.totalTokens;
      }
    },
  };
}

/** An estimate. */
export function toTokens(text: string): number {
  return text.length / UNITS_PER_TOKEN;
}
