/** Connections that are silent, and those that are aborted. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createModelServer, type ModelAnswer, type ModelServer } from "../../../../test/support/model-server.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { WireProtocol } from "../../src/endpoint.ts";
import {
  createErrorAnswer,
  createLiveSetup,
  createRequest,
  readOutcome,
  shortAnswers,
  textThenMore,
} from "./live-setup.ts";

let server: ModelServer;

beforeAll(async () => {
  server = await createModelServer();
});

afterAll(() => server.close());

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

test(
  verifies("R-95", "deltas of an answer are one group while many answers are open, and groups of their own alone"),
  async () => {
    const { model } = createLiveSetup("openai-chat", server.url, { limits: { maxTries: 1 } });
    const end = new AbortController();
    const countGroups = async (pauseMs: number): Promise<number> => {
      server.answer({ chunks: shortAnswers["openai-chat"], pauseMs });
      let count = 0;
      for await (const group of model.stream(createRequest(), end.signal)) {
        if (group.some(({ type }) => type === "text_delta")) count += 1;
      }
      return count;
    };
    const alone = await countGroups(100);
    server.answer({ chunks: textThenMore, after: "hang" });
    const open = Array.from({ length: 300 }, () => model.stream(createRequest(), end.signal)[Symbol.asyncIterator]());
    await Promise.all(open.map((answer) => answer.next()));
    const together = await countGroups(1);
    end.abort();
    await Promise.all(open.map((answer) => answer.next()));
    expect({ alone, together }).toEqual({ alone: 2, together: 1 });
  },
);

describe("abort", () => {
  const phases: readonly [string, ModelAnswer][] = [
    ["before the headers", { after: "silent" }],
    ["before the first byte", { after: "hang" }],
    ["in the text", { chunks: textThenMore, after: "hang" }],
    ["between bytes", { chunks: Array.from(textThenMore.join("").repeat(50)), pauseMs: 5 }],
    ["in the body of an error", { status: 500, after: "hang" }],
    ["in a wait between tries", createErrorAnswer(503, "busy")],
    ["after the end marker", { chunks: shortAnswers["openai-chat"], after: "hang" }],
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
