import { expect, test } from "vitest";
import { findModelPrice } from "../../src/config/model-prices.ts";
import type { TokenPrice } from "@sheaf/protocol";
import { verifies } from "../../../../test/support/verifies.ts";

const early = Date.UTC(2025, 0, 1);
const late = Date.UTC(2026, 10, 1);

function find(name: string, time = late, prices: Record<string, TokenPrice> = {}, baseUrl?: string) {
  return findModelPrice(name, { flags: { baseUrl }, config: { settings: { prices }, fault: undefined } }, time);
}

test(verifies("C163", "models of known providers have a price; the base price if there are steps"), async () => {
  const sonnet = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
  expect(await find("anthropic/claude-sonnet-4-5")).toEqual(sonnet);
  expect(await find("anthropic/claude-sonnet-4-5-20250929")).toEqual(sonnet);
  expect(await find("openai/gpt-5")).toEqual({ input: 1.25, output: 10, cacheRead: 0.125 });
  expect(await find("openai-chat/gpt-5")).toEqual(await find("openai/gpt-5"));
  expect(await find("google/gemini-2.5-pro")).toEqual({ input: 1.25, output: 10, cacheRead: 0.125 });
  expect(await find("openrouter/anthropic/claude-sonnet-4.5")).toEqual(sonnet);
});

test(verifies("C163", "the price is that of the day"), async () => {
  expect(await find("openai/o3", early)).toMatchObject({ input: 10, output: 40 });
  expect(await find("openai/o3", late)).toMatchObject({ input: 2, output: 8 });
});

test(verifies("C163", "the user's own price wins, at any address"), async () => {
  const own = { input: 1, output: 2 };
  expect(await find("openai/gpt-5", late, { "openai/gpt-5": own })).toBe(own);
  expect(await find("openai/gpt-5", late, { "openai/gpt-5": own }, "http://127.0.0.1/v1")).toBe(own);
  expect(await find("lab/large", late, { "lab/large": own })).toBe(own);
});

test(verifies("C163", "other servers, unknown models and models with half a price have none"), async () => {
  expect(await find("openai/gpt-5", late, {}, "http://127.0.0.1/v1")).toBeUndefined();
  const names = [
    "offline",
    "gpt-5",
    "openaix",
    "ollama/gpt-5",
    "lab/gpt-5",
    "openai-compatible/gpt-5",
    "anthropic/gpt-5",
  ];
  const odd = ["openai/", "openai/__proto__", "google/../../x", "openrouter/deepseek/deepseek-r1:free"];
  const half = ["openai/text-embedding-3-small", `anthropic/${"x".repeat(100_000)}`];
  for (const name of [...names, ...odd, ...half]) expect(await find(name), name.slice(0, 50)).toBeUndefined();
});
