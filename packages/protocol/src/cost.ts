/** Usage and cost of model requests. */
import type { Usage } from "./response-parts.ts";
import type { Compaction, RunEventBody, TurnEnd } from "./run-events.ts";

/** Prices in US dollars per million tokens. */
export interface TokenPrice {
  readonly input: number;
  readonly output: number;
  /** Price of prompt tokens read from the provider's cache. Default: `input`. */
  readonly cacheRead?: number;
  /** Price of prompt tokens written to the cache. Default: `input`. */
  readonly cacheWrite?: number;
}

/** Returns the price of the model that answered a request (C59), else the run's; undefined: not known. */
export function findPrice(
  { model }: { readonly model?: { readonly price?: TokenPrice } },
  ofRun: TokenPrice | undefined,
): TokenPrice | undefined {
  return model ? model.price : ofRun;
}

/** US dollars. Tokens read from and written to the cache are part of the prompt (N6), but have their own prices. */
export function toCostUsd(usage: Usage, price: TokenPrice): number {
  const { promptTokens, completionTokens, cachedPromptTokens = 0, cacheWriteTokens = 0 } = usage;
  const plain = Math.max(0, promptTokens - cachedPromptTokens - cacheWriteTokens);
  const sum =
    plain * price.input +
    cachedPromptTokens * (price.cacheRead ?? price.input) +
    cacheWriteTokens * (price.cacheWrite ?? price.input) +
    completionTokens * price.output;
  return sum / 1_000_000;
}

/** Counts that add up; only some providers report the last three. */
const counts = [
  "promptTokens",
  "completionTokens",
  "reasoningTokens",
  "cachedPromptTokens",
  "cacheWriteTokens",
] as const satisfies readonly (keyof Usage)[];

/** Returns the sum of two usages (N6). */
export function addUsage(one: Usage, other: Usage): Usage {
  const sum: { -readonly [Name in keyof Usage]: Usage[Name] } = { ...one };
  for (const name of counts) if (other[name] !== undefined) sum[name] = (one[name] ?? 0) + other[name];
  sum.totalTokens = sum.promptTokens + sum.completionTokens;
  if (other.estimated) sum.estimated = true;
  return sum;
}

/** Returns the model request that an event ends, in the run or a subagent: the run pays for both (C97). */
export function toEndedRequest(event: RunEventBody): TurnEnd | Compaction | undefined {
  const own = event.type === "agent_event" ? event.event : event;
  return own.type === "turn_end" || own.type === "compaction" ? own : undefined;
}
