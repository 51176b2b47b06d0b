/** Usage of a conversation up to now. */
import type { Turn } from "@sheaf/client/chat";
import type { ChatResponse, ConversationSummary, ModelInfo } from "@sheaf/protocol";

export interface UsageSum {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** US dollars; undefined if the server knows no price. */
  readonly costUsd: number | undefined;
  /** Size of the conversation for the model, from the newest answer that reports it; undefined without any. */
  readonly contextTokens: number | undefined;
  /** Number of the model's turns in the visible answers. */
  readonly turnCount: number;
  /** Total time of the visible answers, in milliseconds. */
  readonly duration: number;
}

/**
 * Returns the server's sum, which includes undone answers (X35), or the visible answers' sum if the list is older.
 * @param listed usage from the list of conversations; undefined if the list lacks the conversation
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

/** Returns the context window of the next message's model, in tokens; undefined if unknown. */
export function findWindowTokens(models: readonly ModelInfo[], model: string | undefined): number | undefined {
  const chosen = model === undefined ? models[0] : models.find(({ id }) => id === model);
  return chosen?.contextTokens;
}

/** Returns the cost in US dollars, if the server knows the prices. */
export function readCost({ metadata }: ChatResponse): number | undefined {
  const { costUsd } = metadata as unknown as Readonly<Record<string, unknown>>;
  return typeof costUsd === "number" ? costUsd : undefined;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
