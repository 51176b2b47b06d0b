/** What a conversation used so far. */
import type { Turn } from "@sheaf/client/chat";
import type { ChatResponse, ConversationSummary, ModelInfo } from "@sheaf/protocol";

export interface UsageSum {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** US dollars; undefined if the server knows no price. */
  readonly costUsd: number | undefined;
  /** Of the newest answer that says how large the conversation is for the model; undefined: none does. */
  readonly contextTokens: number | undefined;
  /** Of the answers that are shown. */
  readonly turnCount: number;
  /** Milliseconds, of the answers that are shown. */
  readonly duration: number;
}

/**
 * The server counts answers that were undone, too (X35). What is shown counts if the list is older than that.
 * @param listed as the list of conversations has it; undefined if it does not name the conversation
 */
export function toUsageSum(turns: readonly Turn[], listed: ConversationSummary["usage"]): UsageSum {
  const responses = turns.map(({ response }) => response);
  const costs = responses.map(readCost).filter((cost) => cost !== undefined);
  const shown = {
    promptTokens: sum(responses.map(({ usage }) => usage.promptTokens)),
    completionTokens: sum(responses.map(({ usage }) => usage.completionTokens)),
    costUsd: costs.length === 0 ? undefined : sum(costs),
  };
  const isOld = listed === undefined || listed.totalTokens < shown.promptTokens + shown.completionTokens;
  const { promptTokens, completionTokens, costUsd } = isOld ? shown : listed;
  return {
    promptTokens,
    completionTokens,
    costUsd,
    contextTokens: responses.findLast(({ metadata }) => metadata.contextTokensUsed)?.metadata.contextTokensUsed,
    turnCount: sum(responses.map(({ metadata }) => metadata.turnCount)),
    duration: sum(responses.map(({ metadata }) => metadata.duration_ms)),
  };
}

/** What the model of the next message takes in one request; the first one is the default. Undefined: not known. Tokens. */
export function findWindowTokens(models: readonly ModelInfo[], model: string | undefined): number | undefined {
  const chosen = model === undefined ? models[0] : models.find(({ id }) => id === model);
  return chosen?.contextTokens;
}

/** US dollars, if the server knows the prices. */
export function readCost({ metadata }: ChatResponse): number | undefined {
  const { costUsd } = metadata as unknown as Readonly<Record<string, unknown>>;
  return typeof costUsd === "number" ? costUsd : undefined;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
