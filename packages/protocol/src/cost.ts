/** What a model request costs. */
import type { Usage } from "./chat.ts";

/** Prices in US dollars for a million tokens. */
export interface TokenPrice {
  readonly input: number;
  readonly output: number;
  /** Of prompt tokens that came from the provider's cache; default: `input`. */
  readonly cacheRead?: number;
  /** Of prompt tokens that were written to it; default: `input`. */
  readonly cacheWrite?: number;
}

/** US dollars. Tokens from and to the cache are part of the prompt (N6), and priced on their own. */
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
