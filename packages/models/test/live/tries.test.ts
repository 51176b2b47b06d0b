/** How often a request is tried, and how long it waits. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createModelServer, type ModelServer } from "../../../../test/support/model-server.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { createErrorAnswer, createLiveSetup, readOutcome, shortAnswers, startTime } from "./live-setup.ts";

let server: ModelServer;

beforeAll(async () => {
  server = await createModelServer();
});

afterAll(() => server.close());

test(verifies("R-19", "a clock that jumps by a day changes neither limits nor waits"), async () => {
  const day = 86_400_000;
  let reads = 0;
  const now = (): number => startTime + [0, day, -day][(reads += 1) % 3]!;
  server.answer(createErrorAnswer(503, "busy", { "retry-after": "5" }), createErrorAnswer(503, "busy"), {
    chunks: shortAnswers["openai-chat"],
    pauseMs: 40,
  });
  const { model, waits } = createLiveSetup("openai-chat", server.url, { now, limits: { silenceMs: 400 } });
  expect((await readOutcome(model)).text).toBe("Hello");
  expect(waits).toEqual([5000, 750]);
});

describe("retries", () => {
  const good = { chunks: shortAnswers["openai-chat"] };

  test(verifies(["R-10", "R-11"], "after faults the answer comes once"), async () => {
    server.answer(
      createErrorAnswer(529, "busy"),
      { after: "refuse" },
      { chunks: [": hello\n\n"], after: "reset" },
      good,
    );
    const { model, waits } = createLiveSetup("openai-chat", server.url, { limits: { maxTries: 4 } });
    const before = server.requests.length;
    const { text, error } = await readOutcome(model);
    expect(error).toBeUndefined();
    expect(text).toBe("Hello");
    const requests = server.requests.slice(before);
    expect(requests).toHaveLength(4);
    expect(new Set(requests.map(({ body }) => body)).size).toBe(1);
    // The second one broke on the connection that the first had left open: a new one is tried at once.
    expect(waits).toEqual([375, 1500]);
  });

  test(verifies("R-10", "ten tries, no wait above a minute"), async () => {
    server.answer(createErrorAnswer(503, "busy"));
    const { model, waits } = createLiveSetup("openai-chat", server.url, { limits: { maxTries: 10 } });
    const before = server.requests.length;
    const { error } = await readOutcome(model);
    expect(error?.message).toContain("(10 tries)");
    expect(server.requests.length - before).toBe(10);
    expect(waits).toEqual([375, 750, 1500, 3000, 6000, 12_000, 24_000, 24_000, 24_000]);
  });

  test.each([
    [400, "true", 2],
    [503, "false", 1],
    [429, "false", 1],
    [429, "true", 2],
    [503, "perhaps", 2],
    [401, "true", 1],
  ])(verifies(["R-10", "C20"], "%i with x-should-retry: %s is tried %i times"), async (status, word, tries) => {
    server.answer(createErrorAnswer(status, "no", { "x-should-retry": word }), good);
    const { model } = createLiveSetup("openai-chat", server.url);
    const before = server.requests.length;
    const { text } = await readOutcome(model);
    expect([server.requests.length - before, text]).toEqual([tries, tries === 2 ? "Hello" : ""]);
  });

  test(verifies("R-10", "--wait-for-quota waits for a quota that the provider would not have retried"), async () => {
    server.answer(createErrorAnswer(429, "no", { "x-should-retry": "false", "retry-after": "7200" }), good);
    const { model, waits } = createLiveSetup("openai-chat", server.url, { limits: { waitsForQuota: true } });
    expect((await readOutcome(model)).text).toBe("Hello");
    expect(waits.length).toBe(120);
  });

  const quotas: readonly [string, Record<string, string>, object | string, number][] = [
    ["retry-after in seconds", { "retry-after": "7" }, "slow down", 7000],
    ["retry-after as a date", { "retry-after": new Date(startTime + 30_000).toUTCString() }, "slow down", 30_000],
    ["retry-after-ms", { "retry-after-ms": "1234", "retry-after": "9" }, "slow down", 1234],
    ["Google's RetryInfo", {}, { message: "quota", details: [{}, { retryDelay: "34s" }] }, 34_000],
    ["a minute", { "retry-after": "60" }, "slow down", 60_000],
  ];
  test.each(quotas)(verifies("R-10", "%s is waited for"), async (_, headers, error, wait) => {
    server.answer(createErrorAnswer(429, error, headers), good);
    const { model, waits } = createLiveSetup("openai-chat", server.url);
    expect((await readOutcome(model)).text).toBe("Hello");
    expect(waits).toEqual([wait]);
  });

  const noWaits: readonly [string, Record<string, string>, object | string][] = [
    ["retry-after: 0", { "retry-after": "0" }, "slow down"],
    ["a negative retry-after", { "retry-after": "-5" }, "slow down"],
    ["a date that has passed", { "retry-after": new Date(startTime - 30_000).toUTCString() }, "slow down"],
    ["retry-after-ms: 0", { "retry-after-ms": "0", "retry-after": "9" }, "slow down"],
    ["a negative retry-after-ms", { "retry-after-ms": "-100" }, "slow down"],
    ["a quota that was reset", { "anthropic-ratelimit-unified-reset": `${startTime / 1000 - 5}` }, "slow down"],
    ["Google's RetryInfo of 0 s", {}, { message: "quota", details: [{ retryDelay: "0s" }] }],
    ["resets_in_seconds: -1", {}, { message: "quota", resets_in_seconds: -1 }],
  ];
  test.each(noWaits)(verifies("R-10", "with %s the pauses grow as without it"), async (_, headers, error) => {
    server.answer(createErrorAnswer(429, error, headers));
    const { model, waits } = createLiveSetup("openai-chat", server.url, { limits: { maxTries: 10 } });
    await readOutcome(model);
    expect(waits).toEqual([375, 750, 1500, 3000, 6000, 12_000, 24_000, 24_000, 24_000]);
  });

  test(verifies("R-10", "the longer one counts: the provider's wait, or the pause"), async () => {
    server.answer(createErrorAnswer(503, "busy", { "retry-after": "2" }));
    const { model, waits } = createLiveSetup("openai-chat", server.url, { limits: { maxTries: 6 } });
    await readOutcome(model);
    expect(waits).toEqual([2000, 2000, 2000, 3000, 6000]);
  });

  test(verifies(["R-10", "C20"], "a quota that resets in hours fails at once and says when"), async () => {
    server.answer(createErrorAnswer(429, "quota", { "retry-after": "7200" }), good);
    const { model, waits } = createLiveSetup("openai-chat", server.url);
    const { error } = await readOutcome(model);
    expect(error?.code).toBe("RATE_LIMITED");
    expect(error?.resetsAt).toBe("2026-01-01T02:00:00.000Z");
    expect(waits).toEqual([]);
  });

  test(verifies("R-10", "with waitsForQuota it is waited for, a minute at a time"), async () => {
    server.answer(createErrorAnswer(429, "quota", { "retry-after": "150" }), good);
    const { model, waits } = createLiveSetup("openai-chat", server.url, { limits: { waitsForQuota: true } });
    const { text, groups } = await readOutcome(model);
    expect(text).toBe("Hello");
    expect(waits).toEqual([60_000, 60_000, 30_000]);
    // Before each piece of the wait; the clock of this test stands still.
    const wait = {
      type: "provider_wait",
      code: "RATE_LIMITED",
      tries: 1,
      message: expect.stringContaining("HTTP 429") as string,
    };
    expect(groups.slice(0, 3)).toEqual([
      [{ ...wait, until: "2026-01-01T00:02:30.000Z" }],
      [{ ...wait, until: "2026-01-01T00:01:30.000Z" }],
      [{ ...wait, until: "2026-01-01T00:00:30.000Z" }],
    ]);
  });
});
