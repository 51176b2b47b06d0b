/** Every fault of R-10 with its code, and how often it is tried. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createModelServer, type ModelAnswer, type ModelServer } from "../../../../test/support/model-server.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { ErrorCode } from "@sheaf/base/errors";
import { toNetworkFailure } from "../../src/live/provider-failure.ts";
import {
  createEndpoint,
  createErrorAnswer,
  createLiveSetup,
  formatEvent,
  protocols,
  readOutcome,
  shortAnswers,
  textThenMore,
} from "./live-setup.ts";

let server: ModelServer;

beforeAll(async () => {
  server = await createModelServer();
});

afterAll(() => server.close());

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
    fault: "neither stop_reason nor message_stop",
    answer: { chunks: shortAnswers["anthropic-messages"].slice(0, 3) },
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
    fault: "a llama.cpp that cannot call tools",
    answer: createErrorAnswer(500, { code: 500, message: "tools param requires --jinja flag", type: "server_error" }),
    code: "PROVIDER_REJECTED",
    tries: 1,
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
      toCause("ENOTFOUND", "getaddrinfo ENOTFOUND model.example"),
      /\(getaddrinfo ENOTFOUND model\.example\): no host has this name: correct the base URL$/,
      3,
    ],
    [
      "a proxy whose name is not known",
      toCause("ENOTFOUND", "getaddrinfo ENOTFOUND proxy.invalid"),
      /: no host has this name: correct the name of the proxy in HTTPS_PROXY and HTTP_PROXY$/,
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

  const settled: readonly (readonly [(typeof protocols)[number], readonly string[]])[] = [
    [
      "openai-chat",
      [
        ...textThenMore,
        formatEvent({ choices: [{ index: 0, delta: { content: "lo" }, finish_reason: "stop" }] }),
        formatEvent({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } }),
      ],
    ],
    [
      "anthropic-messages",
      [
        ...shortAnswers["anthropic-messages"].slice(0, 3),
        formatEvent({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } }),
      ],
    ],
  ];
  test.each(settled)(
    verifies(["R-10", "R-11"], "%s: after the reason of the end, neither a reset nor an open connection fails"),
    async (protocol, chunks) => {
      for (const after of ["reset", "hang", "end"] as const) {
        server.answer({ chunks, after });
        const { error, text, events } = await readOutcome(createLiveSetup(protocol, server.url, { graceMs: 50 }).model);
        expect([after, error?.message, text]).toEqual([after, undefined, "Hello"]);
        expect(events.at(-1)).toMatchObject({ type: "turn_end", finishReason: "stop" });
      }
    },
  );

  test(verifies("C20", "what only a correction can mend is not called retryable"), async () => {
    const endpoint = createEndpoint("openai-chat", "https://model.invalid");
    const causes = ["ENOTFOUND", "CERT_HAS_EXPIRED", "ECONNRESET"].map((code) =>
      Object.assign(new Error(code), { code }),
    );
    expect(causes.map((cause) => toNetworkFailure(endpoint, cause).error.retryable)).toEqual([false, false, true]);
    server.answer(createErrorAnswer(429, { code: "insufficient_quota", message: "check your billing" }));
    const { error } = await readOutcome(createLiveSetup("openai-chat", server.url).model);
    expect(error).toMatchObject({ code: "RATE_LIMITED", retryable: false });
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
