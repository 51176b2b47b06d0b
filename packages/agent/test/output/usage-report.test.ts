import type { RunEvent, RunEventBody, TokenPrice } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { createUsageReport } from "../../src/output/usage-report.ts";
import { verifies } from "../../../../test/support/verifies.ts";

const day = Date.UTC(2026, 1, 23);
const usage = { promptTokens: 1_000_000, completionTokens: 0, totalTokens: 1_000_000 };
const dear: TokenPrice = { input: 5, output: 5 };
const cheap: TokenPrice = { input: 1, output: 1 };

function toEvents(modelName: string, price: TokenPrice | undefined, ends: readonly object[]): RunEvent[] {
  const start = { type: "run_start", responseId: `chat_${modelName}`, conversationId: "conv_1", model: "m", modelName };
  const end = { type: "turn_end", finishReason: "stop", rawFinishReason: "", usage, modelMs: 1 };
  const bodies = [{ ...start, workspace: "/w", ...(price && { price }) }, ...ends.map((more) => ({ ...end, ...more }))];
  return bodies.map((body, index) => ({ ...(body as unknown as RunEventBody), seq: index + 1, time: day + index }));
}

function report(events: readonly RunEvent[], prices: Record<string, TokenPrice> = {}, since = 0) {
  const sum = createUsageReport({ by: ["model"], since, prices });
  for (const event of events) sum.push(event);
  return sum;
}

test(verifies("C60", "a request costs what the log says, else what the configuration says"), () => {
  const events = [...toEvents("a", dear, [{}]), ...toEvents("b", undefined, [{}])];
  expect(report(events, { a: cheap, b: cheap }).rows).toMatchObject([
    { model: "a", cost_usd: 5, unpriced_requests: 0 },
    { model: "b", cost_usd: 1, unpriced_requests: 0 },
  ]);
});

test(verifies("C60", "what has no price is null, or left out of a sum that says so"), () => {
  const sum = report([...toEvents("a", dear, [{}]), ...toEvents("b", undefined, [{}, {}])]);
  expect(sum.rows[1]).toMatchObject({ model: "b", cost_usd: null, unpriced_requests: 2 });
  expect(sum.total).toMatchObject({ cost_usd: 5, unpriced_requests: 2, requests: 3 });
  expect(sum.unpriced).toEqual(["b"]);
});

test(verifies(["C59", "C60"], "a request counts for the model that answered it"), () => {
  const model = { id: "f", name: "fallback", price: cheap };
  const compaction = { type: "compaction", usage, model };
  const sum = report(toEvents("a", dear, [{}, { model }, compaction, { model: { id: "g", name: "other" } }]));
  expect(sum.rows).toMatchObject([
    { model: "a", cost_usd: 5, requests: 1 },
    { model: "fallback", cost_usd: 2, requests: 2 },
    { model: "other", cost_usd: null, requests: 1 },
  ]);
});

test(verifies("C60", "requests before the time do not count"), () => {
  expect(report(toEvents("a", dear, [{}, {}]), {}, day + 2).total).toMatchObject({ requests: 1, runs: 1 });
});
