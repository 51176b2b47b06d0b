/** Every fault of R-10 with its code, and how often it is tried. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createModelServer, type ModelAnswer, type ModelServer } from "../../../../../test/support/model-server.ts";
import { verifies } from "../../../../../test/support/verifies.ts";
import type { ErrorCode } from "../../../src/base/errors.ts";
import type { WireProtocol } from "../../../src/model/endpoint.ts";
import { toNetworkFailure } from "../../../src/model/live/provider-failure.ts";
import {
  canaryKey,
  createEndpoint,
  createLiveSetup,
  createRequest,
  formatEvent,
  protocols,
  readOutcome,
  shortAnswers,
  startTime,
} from "./live-setup.ts";

let server: ModelServer;
beforeAll(async () => {
  server = await createModelServer();
});
afterAll(() => server.close());

const json = { "content-type": "application/json" };

function createErrorAnswer(status: number, error: object | string, headers: Record<string, string> = {}): ModelAnswer {
  return { status, headers: { ...json, ...headers }, chunks: [JSON.stringify({ error })] };
}

const textThenMore = shortAnswers["openai-chat"].slice(0, 2);

interface Fault {
  readonly fault: string;
  readonly answer: ModelAnswer;
  readonly code: ErrorCode;
  /** Of three that are allowed. */
  readonly tries: number;
  readonly text?: string;
  readonly protocol?: (typeof protocols)[number];
}

const refusals: readonly Fault[] = [
  { fault: "401", answer: createErrorAnswer(401, { message: "bad key" }), code: "AUTH_REJECTED", tries: 1 },
  { fault: "403", answer: createErrorAnswer(403, { message: "forbidden" }), code: "AUTH_REJECTED", tries: 1 },
  {
    fault: "a bad key at Google, with status 400",
    answer: createErrorAnswer(400, {
      code: 400,
      message: "API key not valid. Please pass a valid API key.",
      status: "INVALID_ARGUMENT",
      details: [{ reason: "API_KEY_INVALID" }],
    }),
    code: "AUTH_REJECTED",
    tries: 1,
    protocol: "gemini",
  },
  { fault: "404", answer: createErrorAnswer(404, "no such thing"), code: "MODEL_NOT_FOUND", tries: 1 },
  {
    fault: "400 for a model's name",
    answer: createErrorAnswer(400, { message: "foo is not a valid model ID" }),
    code: "MODEL_NOT_FOUND",
    tries: 1,
  },
  {
    fault: "402",
    answer: createErrorAnswer(402, { message: "insufficient credits" }),
    code: "PROVIDER_REJECTED",
    tries: 1,
  },
  {
    fault: "400",
    answer: createErrorAnswer(400, { message: "tools[0] has no name" }),
    code: "PROVIDER_REJECTED",
    tries: 1,
  },
  {
    fault: "a long context at OpenAI",
    answer: createErrorAnswer(400, {
      code: "context_length_exceeded",
      message: "This model's maximum context length is 128000 tokens.",
    }),
    code: "CONTEXT_LENGTH",
    tries: 1,
  },
  {
    fault: "a long context at Anthropic",
    answer: createErrorAnswer(400, {
      type: "invalid_request_error",
      message: "prompt is too long: 210000 tokens > 200000 maximum",
    }),
    code: "CONTEXT_LENGTH",
    tries: 1,
    protocol: "anthropic-messages",
  },
  {
    fault: "a long context at Google",
    answer: createErrorAnswer(400, {
      message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
      status: "INVALID_ARGUMENT",
    }),
    code: "CONTEXT_LENGTH",
    tries: 1,
    protocol: "gemini",
  },
  {
    fault: "413 of a proxy",
    answer: {
      status: 413,
      headers: { "content-type": "text/html" },
      chunks: ["<h1>413 Request Entity Too Large</h1>"],
    },
    code: "CONTEXT_LENGTH",
    tries: 1,
  },
  { fault: "422", answer: createErrorAnswer(422, "max_tokens is wrong"), code: "PROVIDER_REJECTED", tries: 1 },
  {
    fault: "a content filter before the answer",
    answer: createErrorAnswer(400, { code: "content_filter", message: "The response was filtered" }),
    code: "CONTENT_FILTER",
    tries: 1,
  },
  { fault: "408", answer: createErrorAnswer(408, "slow"), code: "OVERLOADED", tries: 3 },
  { fault: "409", answer: createErrorAnswer(409, "conflict"), code: "PROVIDER_REJECTED", tries: 3 },
  { fault: "429", answer: createErrorAnswer(429, "slow down"), code: "RATE_LIMITED", tries: 3 },
  {
    fault: "429 with retry-after",
    answer: createErrorAnswer(429, "slow down", { "retry-after": "7" }),
    code: "RATE_LIMITED",
    tries: 3,
  },
  {
    fault: "429 without money",
    answer: createErrorAnswer(429, { code: "insufficient_quota", message: "check your billing" }),
    code: "RATE_LIMITED",
    tries: 1,
  },
  ...[500, 502, 503, 504, 529].map((status): Fault => ({
    fault: String(status),
    answer: createErrorAnswer(status, { type: "overloaded_error", message: "Overloaded" }),
    code: "OVERLOADED",
    tries: 3,
  })),
  { fault: "a reset before the headers", answer: { after: "refuse" }, code: "NETWORK", tries: 3 },
  { fault: "a reset before the first event", answer: { after: "reset" }, code: "NETWORK", tries: 3 },
  { fault: "a redirect", answer: { status: 307, headers: { location: "/v2" } }, code: "PROVIDER_REJECTED", tries: 1 },
  {
    fault: "a page of a proxy",
    answer: { headers: { "content-type": "text/html" }, chunks: ["<html>log in</html>"] },
    code: "PROVIDER_REJECTED",
    tries: 1,
  },
  {
    fault: "a page that calls itself a stream",
    answer: { chunks: [" ", "<!doctype html><html>log in</html>"] },
    code: "PROVIDER_REJECTED",
    tries: 1,
  },
  { fault: "an empty body", answer: {}, code: "STREAM_TRUNCATED", tries: 3 },
];

const brokenStreams: readonly Fault[] = [
  {
    fault: "a reset in mid-stream",
    answer: { chunks: textThenMore, after: "reset" },
    code: "NETWORK",
    tries: 1,
    text: "Hel",
  },
  { fault: "no end marker", answer: { chunks: textThenMore }, code: "STREAM_TRUNCATED", tries: 1, text: "Hel" },
  {
    fault: "JSON that breaks off",
    answer: { chunks: [...textThenMore, 'data: {"choices":[{"delta":{"conte'] },
    code: "STREAM_TRUNCATED",
    tries: 1,
    text: "Hel",
  },
  {
    fault: "no message_stop",
    answer: {
      chunks: [
        ...shortAnswers["anthropic-messages"].slice(0, 3),
        formatEvent({ type: "message_delta", delta: { stop_reason: "end_turn" } }),
      ],
    },
    code: "STREAM_TRUNCATED",
    tries: 1,
    text: "Hello",
    protocol: "anthropic-messages",
  },
  {
    fault: "an error in mid-stream",
    answer: {
      chunks: [...textThenMore, formatEvent({ error: { type: "server_error", message: "oops" } }), "data: [DONE]\n\n"],
    },
    code: "OVERLOADED",
    tries: 1,
    text: "Hel",
  },
  {
    fault: "an overload as the first event",
    answer: { chunks: [formatEvent({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } })] },
    code: "OVERLOADED",
    tries: 3,
    protocol: "anthropic-messages",
  },
  {
    fault: "a long context as an event",
    answer: { chunks: [formatEvent({ type: "error", code: "context_length_exceeded", message: "too long" })] },
    code: "CONTEXT_LENGTH",
    tries: 1,
    protocol: "openai-responses",
  },
  {
    fault: "an error in a body that is no stream",
    answer: createErrorAnswer(200, { code: 503, message: "unavailable" }),
    code: "OVERLOADED",
    tries: 3,
  },
  {
    fault: "a call that the provider could not read",
    answer: { chunks: [formatEvent({ candidates: [{ finishReason: "MALFORMED_FUNCTION_CALL" }] })] },
    code: "PROVIDER_REJECTED",
    tries: 3,
    protocol: "gemini",
  },
];

describe("faults", () => {
  test.each([...refusals, ...brokenStreams])(
    verifies(["R-10", "R-11", "C20", "S-41"], "$fault is $code after $tries tries"),
    async ({ answer, code, tries, text = "", protocol = "openai-chat" }) => {
      server.answer(answer);
      const before = server.requests.length;
      const { model } = createLiveSetup(protocol, server.url);
      const outcome = await readOutcome(model);
      expect(outcome.error?.code).toBe(code);
      expect(server.requests.length - before).toBe(tries);
      expect(outcome.text).toBe(text);
      expect(outcome.error?.source).toBe("provider");
      expect(outcome.error?.message).toContain(`test-${protocol}, model ${model.id}`);
      expect(outcome.error?.message).not.toMatch(/[\r\n]/);
      // The turn that had begun ends once; one that never began has no event.
      const ends = outcome.events.filter(({ type }) => type === "turn_end");
      const hasBegun = outcome.events.some(({ type }) => type !== "provider_wait");
      expect(ends).toHaveLength(hasBegun ? 1 : 0);
      if (ends[0]) expect(outcome.events.at(-1)).toMatchObject({ type: "turn_end", finishReason: "error" });
    },
  );

  test(verifies("R-10", "nobody listens: NETWORK"), async () => {
    const closed = await createModelServer();
    await closed.close();
    const { model, waits } = createLiveSetup("openai-chat", closed.url);
    const { error } = await readOutcome(model);
    expect(error?.code).toBe("NETWORK");
    expect(error?.message).toContain("ECONNREFUSED");
    expect(waits).toHaveLength(2);
  });

  test(verifies(["R-10", "C21"], "nobody listens on this machine: a few tries, and what to start"), async () => {
    const closed = await createModelServer();
    await closed.close();
    const endpoint = { provider: "ollama" };
    for (const url of [closed.url, closed.url.replace("127.0.0.1", "localhost")]) {
      const { model, waits } = createLiveSetup("openai-chat", url, { endpoint, limits: { maxTries: 10 } });
      const { error } = await readOutcome(model);
      const port = new URL(url).port;
      expect(error?.message).toMatch(
        new RegExp(
          `: nothing listens on port ${port} of this machine: start the server of ollama, or correct the base URL \\(3 tries\\)$`,
        ),
      );
      expect(waits).toEqual([375, 750]);
    }
  });

  test(verifies("R-10", "a server that has answered before is waited for as long as any"), async () => {
    const closing = await createModelServer({ chunks: shortAnswers["openai-chat"] });
    const { model } = createLiveSetup("openai-chat", closing.url, { limits: { maxTries: 10 } });
    expect((await readOutcome(model)).text).toBe("Hello");
    await closing.close();
    const { error } = await readOutcome(model);
    expect(error?.code).toBe("NETWORK");
    expect(error?.message).toMatch(/\(10 tries\)$/);
  });

  const toCause = (code: string, message: string, more: object = {}): Error =>
    Object.assign(new Error(message), { code, ...more });
  test.each([
    [
      "a name that is not known",
      toCause("ENOTFOUND", "getaddrinfo ENOTFOUND model.invalid"),
      /\(getaddrinfo ENOTFOUND model\.invalid\): no host has this name: correct the base URL, or check the network$/,
      3,
    ],
    [
      "nobody to ask for a name",
      toCause("EAI_AGAIN", "getaddrinfo EAI_AGAIN model.example"),
      /\(getaddrinfo EAI_AGAIN model\.example\): check the network and the base URL, then try again$/,
      undefined,
    ],
    [
      "a refusal by another machine",
      toCause("ECONNREFUSED", "connect ECONNREFUSED 192.0.2.1:443", { address: "192.0.2.1", port: 443 }),
      /: check the network and the base URL, then try again$/,
      undefined,
    ],
    [
      "a proxy that is not started",
      toCause("ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:3128", { address: "127.0.0.1", port: 3128 }),
      /: nothing listens on port 3128 of this machine, where a proxy should be: start it, or correct HTTPS_PROXY and HTTP_PROXY$/,
      3,
    ],
  ])(verifies(["R-10", "C21"], "%s: what to do, and how often it is tried"), (_, cause, message, maxTries) => {
    const failure = toNetworkFailure(createEndpoint("openai-chat", "https://model.example/v1"), cause);
    expect(failure.error.message).toMatch(message);
    expect([failure.isRetryable, failure.maxTries]).toEqual([true, maxTries]);
  });

  test(verifies(["R-10", "C21"], "a server without encryption behind https: one try, and what to write"), async () => {
    const { model, waits } = createLiveSetup("openai-chat", server.url.replace("http:", "https:"));
    const { error } = await readOutcome(model);
    expect(error?.code).toBe("NETWORK");
    expect(error?.message).toMatch(/: use http:\/\/ in the base URL, or check its port$/);
    expect(waits).toEqual([]);
  });

  test.each([
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "NODE_EXTRA_CA_CERTS=FILE"],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "NODE_EXTRA_CA_CERTS=FILE"],
    ["CERT_HAS_EXPIRED", "renew the certificate"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "use the host name of the certificate"],
  ])(verifies(["R-10", "C21"], "a certificate that does not hold is not tried again: %s"), (code, advice) => {
    const cause = Object.assign(new Error("it does not hold"), { code });
    const failure = toNetworkFailure(createEndpoint("openai-chat", server.url), cause);
    expect(failure).toMatchObject({ isRetryable: false, error: { code: "NETWORK" } });
    expect(failure.error.message).toContain(advice);
  });

  test.each([
    ["a refusal", { delta: { refusal: "I will not." }, finish_reason: "stop" }, "refusal"],
    ["a content filter", { delta: { content: "He" }, finish_reason: "content_filter" }, "content_filter"],
    ["the token limit", { delta: { content: "He" }, finish_reason: "length" }, "max_tokens"],
    ["an empty answer", { delta: {}, finish_reason: "stop" }, "stop"],
  ])(verifies(["R-10", "C20"], "%s is for the run to judge"), async (_, choice, finishReason) => {
    server.answer({ chunks: [formatEvent({ choices: [choice] }), "data: [DONE]\n\n"] });
    const { error, events } = await readOutcome(createLiveSetup("openai-chat", server.url).model);
    expect(error).toBeUndefined();
    expect(events.at(-1)).toMatchObject({ type: "turn_end", finishReason });
  });

  test(verifies("R-10", "wrong arguments and equal ids come through"), async () => {
    const call = (index: number, text: string) => ({ index, id: "same", function: { name: "x", arguments: text } });
    const delta = { tool_calls: [call(0, "{oops"), call(1, "{}")] };
    server.answer({ chunks: [formatEvent({ choices: [{ delta, finish_reason: "tool_calls" }] }), "data: [DONE]\n\n"] });
    const { error, events } = await readOutcome(createLiveSetup("openai-chat", server.url).model);
    expect(error).toBeUndefined();
    expect(events.filter(({ type }) => type === "tool_call_arguments")).toMatchObject([
      { callId: "call_1", arguments: {}, rawArguments: "{oops" },
      { callId: "call_2", arguments: {} },
    ]);
  });

  test.each(protocols)(verifies("R-10", "%s: an answer whose connection stays open ends"), async (protocol) => {
    server.answer({ chunks: shortAnswers[protocol], after: "hang" });
    const { error, text } = await readOutcome(createLiveSetup(protocol, server.url, { graceMs: 50 }).model);
    expect(error).toBeUndefined();
    expect(text).toBe("Hello");
  });
});

test.each(protocols)("%s: an end that comes with the last bytes is one group with them", async (protocol) => {
  const body = shortAnswers[protocol].join("");
  const headers = { "content-type": "text/event-stream", "content-length": String(Buffer.byteLength(body)) };
  server.answer({ headers, chunks: [body] }, { headers, chunks: [body] });
  const { model } = createLiveSetup(protocol, server.url);
  // The second answer comes over the connection of the first.
  for (let turn = 0; turn < 2; turn += 1) {
    const { error, text, groups } = await readOutcome(model);
    expect([error, text]).toEqual([undefined, "Hello"]);
    expect(groups.map((group) => group.at(-1)?.type)).toEqual(["turn_end"]);
  }
});

test("what came before a connection broke is shown", async () => {
  server.answer({ chunks: textThenMore, after: "reset" });
  const { error, text } = await readOutcome(
    createLiveSetup("openai-chat", server.url, { limits: { maxTries: 1 } }).model,
  );
  expect([error?.code, text]).toEqual(["NETWORK", "Hel"]);
});

describe("silence", () => {
  test.each<[string, ModelAnswer, string]>([
    ["before the headers", { after: "silent" }, ""],
    ["before the first byte", { after: "hang" }, ""],
    ["in mid-stream", { chunks: textThenMore, after: "hang" }, "Hel"],
    ["in the body of an error", { status: 500, after: "hang" }, ""],
  ])(verifies(["R-10", "R-19"], "%s ends the request"), async (place, answer, text) => {
    server.answer(answer);
    const { model } = createLiveSetup("openai-chat", server.url, { limits: { silenceMs: 120, maxTries: 1 } });
    const outcome = await readOutcome(model);
    expect(outcome.error?.code).toBe(place === "in the body of an error" ? "OVERLOADED" : "STREAM_STALLED");
    expect(outcome.text).toBe(text);
  });

  const beats: readonly [WireProtocol, string][] = [
    ["openai-chat", ": PROCESSING\n\n"],
    ["openai-chat", 'data: {"id":"c","choices":[{"index":0,"delta":{}}]}\n\n'],
    ["openai-chat", 'data: {"id":"c","choices":[{"index":0,"delta":{"content":""}}]}\n\n'],
    ["openai-chat", "data: ping\n\n"],
    ["anthropic-messages", 'event: ping\ndata: {"type":"ping"}\n\n'],
    ["openai-responses", 'event: keepalive\ndata: {"type":"keepalive","sequence_number":3}\n\n'],
    ["gemini", ": keepalive\n\n"],
  ];

  test.each(beats)(verifies("R-10", "that pings hide ends the request, %s %j"), async (protocol, beat) => {
    const chunks = [...shortAnswers[protocol].slice(0, 1), ...Array.from({ length: 500 }, () => beat)];
    server.answer({ chunks, pauseMs: 20, after: "hang" });
    const { model } = createLiveSetup(protocol, server.url, { limits: { silenceMs: 200, maxTries: 1 } });
    const { error } = await readOutcome(model);
    expect(error).toMatchObject({
      code: "STREAM_STALLED",
      message: expect.stringContaining("signs of life") as string,
    });
    expect(error?.message).toContain("limits.silenceSeconds");
  });

  test(verifies("R-10", "a slow stream is no silent one, and a slow reader is none either"), async () => {
    server.answer({ chunks: shortAnswers["openai-chat"], pauseMs: 80 });
    const { model } = createLiveSetup("openai-chat", server.url, { limits: { silenceMs: 200 } });
    let text = "";
    for await (const group of model.stream(createRequest(), new AbortController().signal)) {
      for (const event of group) if (event.type === "text_delta") text += event.text;
      await new Promise((resolve) => setTimeout(resolve, 350));
    }
    expect(text).toBe("Hello");
  });
});

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
    ["a date that has passed", { "retry-after": new Date(startTime - 30_000).toUTCString() }, "slow down", 0],
    ["retry-after-ms", { "retry-after-ms": "1234", "retry-after": "9" }, "slow down", 1234],
    ["Google's RetryInfo", {}, { message: "quota", details: [{}, { retryDelay: "34s" }] }, 34_000],
    ["a minute", { "retry-after": "60" }, "slow down", 60_000],
  ];
  test.each(quotas)(verifies("R-10", "%s is waited for"), async (_, headers, error, wait) => {
    server.answer(createErrorAnswer(429, error, headers), good);
    const { model, waits } = createLiveSetup("openai-chat", server.url);
    expect((await readOutcome(model)).text).toBe("Hello");
    expect(waits).toEqual(wait === 0 ? [] : [wait]);
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
    const wait = { type: "provider_wait", code: "RATE_LIMITED", tries: 1 };
    expect(groups.slice(0, 3)).toEqual([
      [{ ...wait, until: "2026-01-01T00:02:30.000Z" }],
      [{ ...wait, until: "2026-01-01T00:01:30.000Z" }],
      [{ ...wait, until: "2026-01-01T00:00:30.000Z" }],
    ]);
  });
});

describe("abort", () => {
  const phases: readonly [string, ModelAnswer][] = [
    ["before the headers", { after: "silent" }],
    ["before the first byte", { after: "hang" }],
    ["in the text", { chunks: textThenMore, after: "hang" }],
    ["between bytes", { chunks: Array.from(textThenMore.join("").repeat(50)), pauseMs: 5 }],
    ["in the body of an error", { status: 500, after: "hang" }],
    ["in a wait between tries", createErrorAnswer(503, "busy")],
    ["behind the end marker", { chunks: shortAnswers["openai-chat"], after: "hang" }],
  ];
  test.each(phases)(verifies("R-10", "%s: the stream ends within a second, without an error"), async (_, answer) => {
    server.answer(answer);
    const { model } = createLiveSetup("openai-chat", server.url, { waitMs: 30_000 });
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 60);
    const startedAt = performance.now();
    const { error, events } = await readOutcome(model, createRequest(), abort.signal);
    expect(performance.now() - startedAt).toBeLessThan(1000);
    expect(error).toBeUndefined();
    expect(events.some(({ type }) => type === "turn_end")).toBe(false);
  });

  test(verifies("R-10", "before the start: nothing is sent"), async () => {
    const before = server.requests.length;
    const { model } = createLiveSetup("openai-chat", server.url);
    expect((await readOutcome(model, createRequest(), AbortSignal.abort())).events).toEqual([]);
    expect(server.requests.length).toBe(before);
  });

  test(verifies("R-10", "a reader that stops leaves no connection"), async () => {
    const own = await createModelServer({ chunks: textThenMore, after: "hang" });
    const { model } = createLiveSetup("openai-chat", own.url);
    for await (const _ of model.stream(createRequest(), new AbortController().signal)) break;
    await expect.poll(own.openConnections, { timeout: 2000 }).toBe(0);
    await own.close();
  });
});

describe("keys", () => {
  const echoes: readonly [string, ModelAnswer][] = [
    ["a message", createErrorAnswer(401, { message: `Incorrect API key provided: ${canaryKey}.` })],
    ["a plain body", { status: 400, chunks: [`x-api-key: ${canaryKey}`] }],
    ["a long body", { status: 500, chunks: ["x".repeat(290), canaryKey, "y".repeat(70_000)] }],
    ["a body with control characters", createErrorAnswer(400, `CAN\u0000ARY\u200b${canaryKey.slice(6)}\u001B[31m`)],
    ["a stream", { chunks: [formatEvent({ error: { message: `no ${canaryKey}`, key: canaryKey } })] }],
    ["a code", { chunks: [formatEvent({ error: { code: canaryKey, type: canaryKey } })] }],
    ["a content type", { headers: { "content-type": `text/html; x=${canaryKey}` } }],
    ["a redirect", { status: 302, headers: { location: `http://${canaryKey}.example/?k=${canaryKey}` } }],
    ["a request id", createErrorAnswer(400, "no", { "request-id": canaryKey })],
    ["a finish reason", { chunks: [formatEvent({ choices: [{ delta: {}, finish_reason: "error" }] })] }],
  ];
  test.each(echoes)(verifies(["S-41", "C21"], "%s that echoes the key shows none of it"), async (_, answer) => {
    server.answer(answer);
    const { model } = createLiveSetup("openai-chat", server.url, { limits: { maxTries: 1 } });
    const { error } = await readOutcome(model);
    const shown = JSON.stringify([error?.message, error?.details, error?.stack, error?.cause]);
    expect(error).toBeDefined();
    expect(shown.toLowerCase()).not.toContain(canaryKey.toLowerCase());
    expect(shown).not.toContain(canaryKey.slice(0, 12));
    expect(error?.message).not.toMatch(/\p{Cc}/u);
    expect(error?.message.length).toBeLessThan(700);
    expect(error?.details.length).toBeLessThanOrEqual(2000);
  });

  test.each([
    ["openai-chat", createErrorAnswer(401, { message: "Incorrect API key provided: sk-proj-CANARYother0123456789." })],
    ["anthropic-messages", { status: 403, chunks: ["upstream said: Authorization: Bearer CANARYother0123456789"] }],
    [
      "gemini",
      { status: 400, chunks: ["https://upstream/v1?key=AIzaCANARYother0123456789CANARYother0123456789 failed"] },
    ],
  ] as const)(
    verifies("S-41", "%s: a key that is not the endpoint's is not shown either"),
    async (protocol, answer) => {
      server.answer(answer);
      const { error } = await readOutcome(createLiveSetup(protocol, server.url, { limits: { maxTries: 1 } }).model);
      expect(error?.message).toContain("[key]");
      expect(JSON.stringify([error?.message, error?.details])).not.toContain("CANARY");
    },
  );

  test(verifies("S-41", "a header of the user's and a password in the address are keys too"), async () => {
    server.answer({ status: 400, chunks: ["Bearer CANARY-header-1 and CANARY-word-22"] });
    const endpoint = { headers: { Authorization: "Bearer CANARY-header-1", "X-Other": "CANARY-word-22" } };
    const { error } = await readOutcome(createLiveSetup("openai-chat", server.url, { endpoint }).model);
    expect(`${error?.message} ${error?.details}`).not.toContain("CANARY");
    const withPassword = { baseUrl: "http://me:CANARY-password@127.0.0.1:1/v1" };
    const other = await readOutcome(createLiveSetup("openai-chat", server.url, { endpoint: withPassword }).model);
    expect(other.error?.code).toBe("CONFIG_INVALID");
    expect(`${other.error?.message} ${other.error?.details}`).not.toContain("CANARY");
  });

  test.each(["CANARY\nkey", "CANARY key", "CANARYé", "CANARY\u{1F511}", ""])(
    verifies("S-41", "a key that no header can hold is not shown: %j"),
    async (apiKey) => {
      const { error } = await readOutcome(createLiveSetup("openai-chat", server.url, { endpoint: { apiKey } }).model);
      expect(error?.code).toBe("AUTH_REJECTED");
      expect(error?.message).not.toContain("CANARY");
    },
  );

  test(verifies("S-41", "a header that is none is a fault of the configuration"), async () => {
    const endpoint = { headers: { "X-Key": "CANARY\nvalue" } };
    const { error } = await readOutcome(createLiveSetup("openai-chat", server.url, { endpoint }).model);
    expect(error?.code).toBe("CONFIG_INVALID");
    expect(error?.message).toContain("X-Key");
    expect(error?.message).not.toContain("CANARY");
  });

  test.each([301, 302, 303, 307, 308])(
    verifies(["S-42", "R-10"], "a redirect (%i) to another host gets neither key nor request"),
    async (status) => {
      const other = await createModelServer({ chunks: shortAnswers["openai-chat"] });
      const location = `${other.url.replace("127.0.0.1", "localhost")}/v1/chat/completions`;
      server.answer({ status, headers: { location } });
      const { error } = await readOutcome(createLiveSetup("openai-chat", server.url).model);
      expect(error?.code).toBe("PROVIDER_REJECTED");
      expect(error?.message).toContain(location);
      expect(error?.message).toMatch(/: if you trust that address, use --base-url http:\/\/localhost:\d+\/v1$/);
      expect(other.requests).toEqual([]);
      await other.close();
    },
  );

  test.each([
    ["https://login.example/start?back=1#top", "a redirect to https://login.example/start, which is not followed"],
    ["/elsewhere", "/elsewhere, which is not followed"],
    ["", "a redirect to nowhere"],
    ["http://[", "a redirect to nowhere"],
  ])(verifies(["S-42", "C21"], "a redirect to %j is told, and no base URL is made of it"), async (location, reason) => {
    server.answer({ status: 302, headers: location === "" ? {} : { location } });
    const { error } = await readOutcome(createLiveSetup("openai-chat", server.url).model);
    expect(error?.message).toContain(reason);
    expect(error?.message).toMatch(/: correct the base URL; if it is right, a proxy or a login page is in between$/);
  });
});
