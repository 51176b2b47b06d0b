/** What a provider wants back in the next request of a run and the log does not carry. */
import type { LanguageModelV4ReasoningPart } from "@ai-sdk/provider";

/** Opaque items of one answer with tool calls. */
interface KeptTurn {
  /** Reasoning as the provider signed or encrypted it, in order. */
  readonly reasoning: readonly LanguageModelV4ReasoningPart[];
  /** Gemini's marks, by call id. */
  readonly signatures: ReadonlyMap<string, string>;
}

/** Lives as long as its model, in memory only: a run that is taken up by another process goes on without these items. */
export interface TurnMemory {
  /** `callId`: the first call of the answer, by which the answer is found in the history again. */
  keep(callId: string, turn: KeptTurn): void;
  find(callId: string): KeptTurn | undefined;
}

/** More turns than any run has; the oldest go first. */
const mostTurns = 1000;

export function createTurnMemory(): TurnMemory {
  const turns = new Map<string, KeptTurn>();
  return {
    keep(callId, turn) {
      turns.set(callId, turn);
      const [oldest] = turns.keys();
      if (turns.size > mostTurns && oldest !== undefined) turns.delete(oldest);
    },
    find: (callId) => turns.get(callId),
  };
}
