/** Requests with an effort, compared with the shape in the documentation of each provider. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Effort } from "@sheaf/protocol";
import { createModelServer, type ModelServer } from "../../../../test/support/model-server.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { WireProtocol } from "../../src/endpoint.ts";
import { languageModels } from "../../src/live/language-models.ts";
import { createLiveSetup, createRequest, readOutcome, shortAnswers } from "./live-setup.ts";

let server: ModelServer;
beforeAll(async () => {
  server = await createModelServer();
});
afterAll(() => server.close());

type Body = Record<string, unknown>;
type Asked = { readonly effort?: Effort; readonly includesReasoning?: true };

async function send(protocol: WireProtocol, modelId: string, asked: Asked) {
  server.answer({ chunks: shortAnswers[protocol] });
  // OpenAI's own chat completions are written by its own package.
  const createLanguageModel = modelId.startsWith("gpt") && { createLanguageModel: await languageModels.openai() };
  const { model } = createLiveSetup(protocol, server.url, {
    endpoint: { modelId, displayName: modelId },
    ...createLanguageModel,
  });
  const { error, events } = await readOutcome(model, createRequest(asked));
  expect(error).toBeUndefined();
  const end = events.at(-1);
  const body = JSON.parse(server.requests.at(-1)?.body ?? "") as Body;
  return { body, notice: end?.type === "turn_end" ? end.notice?.message : "no end" };
}

const nothing = ["thinking", "output_config", "reasoning", "reasoning_effort", "generationConfig"];

describe("an effort in the request", () => {
  const adaptive = { type: "adaptive", display: "summarized" };
  const bound = { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } };
  const budget = (tokens: number) => ({ thinking: { type: "enabled", budget_tokens: tokens }, max_tokens: 64_000 });
  const gemini = (thinkingConfig: object) => ({ generationConfig: { thinkingConfig } });

  test.each([
    // https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking, …/effort
    ["anthropic-messages", "claude-opus-4-8", "low", { thinking: adaptive, output_config: { effort: "low" } }],
    ["anthropic-messages", "claude-opus-5-5", "max", { thinking: bound, output_config: { effort: "max" } }],
    ["anthropic-messages", "claude-opus-4-8", "off", { thinking: { type: "disabled" } }],
    // …/extended-thinking: models with a budget
    ["anthropic-messages", "claude-sonnet-4-5", "medium", budget(19_200)],
    ["anthropic-messages", "claude-sonnet-4-5", "high", budget(38_400)],
    ["anthropic-messages", "claude-sonnet-4-5", "max", budget(38_400)],
    ["anthropic-messages", "claude-sonnet-4-5", "off", { thinking: { type: "disabled" } }],
    // https://platform.openai.com/docs/guides/reasoning
    ["openai-responses", "gpt-5.6", "high", { reasoning: { effort: "high" } }],
    ["openai-responses", "gpt-5.2", "off", { reasoning: { effort: "none" } }],
    ["openai-chat", "gpt-5.2", "medium", { reasoning_effort: "medium" }],
    // https://ai.google.dev/gemini-api/docs/thinking
    ["gemini", "gemini-3-pro-preview", "high", gemini({ thinkingLevel: "high" })],
    ["gemini", "gemini-2.5-flash", "off", gemini({ thinkingBudget: 0 })],
    ["gemini", "gemini-2.5-pro", "medium", gemini({ thinkingBudget: 19_661 })],
    // Compatible servers: https://openrouter.ai/docs, https://docs.vllm.ai
    ["openai-chat", "qwen3", "low", { reasoning_effort: "low" }],
    ["openai-chat", "qwen3", "off", { reasoning_effort: "none" }],
    ["openai-chat", "deepseek-v4-pro", "max", { reasoning_effort: "max" }],
  ] as const)(verifies("C36", "%s, %s, %s"), async (protocol, modelId, effort, shape) => {
    const { body, notice } = await send(protocol, modelId, { effort });
    expect(body).toMatchObject(shape);
    expect(notice).toBeUndefined();
    expect(JSON.stringify(body)).not.toContain('"summary"');
  });

  test.each([
    ["anthropic-messages", "claude-sonnet-4-5"],
    ["anthropic-messages", "claude-opus-4-8"],
    ["openai-responses", "gpt-5.6"],
    ["gemini", "gemini-3-pro-preview"],
    ["openai-chat", "qwen3"],
  ] as const)(verifies("C36", "%s, %s: without one the provider decides"), async (protocol, modelId) => {
    const { body } = await send(protocol, modelId, {});
    expect(nothing.filter((name) => name in body && JSON.stringify(body[name]) !== "{}")).toEqual([]);
  });

  test.each([
    ["anthropic-messages", "claude-fable-5-2", {}, { thinking: adaptive }],
    ["anthropic-messages", "claude-opus-4-8", { effort: "low" }, { thinking: adaptive }],
    ["openai-responses", "gpt-5.6", {}, { reasoning: { summary: "auto" } }],
    ["openai-responses", "gpt-5.6", { effort: "low" }, { reasoning: { effort: "low", summary: "auto" } }],
    ["gemini", "gemini-2.5-pro", {}, gemini({ includeThoughts: true })],
    ["gemini", "gemini-3-pro-preview", { effort: "low" }, gemini({ includeThoughts: true, thinkingLevel: "low" })],
  ] as const)(verifies("C12", "%s, %s, %o: summaries are asked for"), async (protocol, modelId, asked, shape) => {
    const { body } = await send(protocol, modelId, { ...asked, includesReasoning: true });
    expect(body).toMatchObject(shape);
  });

  test(verifies("C36", "models that bind their thinking drop it when the conversation before it changed"), async () => {
    const { body } = await send("anthropic-messages", "claude-sonnet-5-5", {});
    expect(body).toMatchObject({ thinking: bound });
    expect(server.requests.at(-1)?.headers["anthropic-beta"]).toContain("thinking-binding-controls");
  });

  test(verifies("C12", "to see the thinking does not switch it on"), async () => {
    const { body } = await send("anthropic-messages", "claude-opus-4-8", { includesReasoning: true });
    expect(body).not.toHaveProperty("thinking");
  });
});

describe("an effort that the model does not have", () => {
  test.each([
    ["openai-responses", "gpt-5.2", "max", 'gpt-5.2 has no --effort max: it runs with "xhigh"'],
    ["gemini", "gemini-3-pro-preview", "max", 'gemini-3-pro-preview has no --effort max: it runs with "high"'],
    ["openai-responses", "gpt-4.1", "high", "gpt-4.1 has no --effort that can be set: requests go without it"],
    ["anthropic-messages", "claude-opus-5-5", "off", 'claude-opus-5-5 has no --effort off: it runs with "low"'],
    [
      "gemini",
      "gemini-2.5-pro",
      "off",
      "gemini-2.5-pro has no --effort off: it runs with its smallest amount of thinking",
    ],
  ] as const)(
    verifies("C36", "%s, %s, %s: the nearest one, and a notice"),
    async (protocol, modelId, effort, notice) => {
      expect((await send(protocol, modelId, { effort })).notice).toBe(notice);
    },
  );

  const refusal = (message: string) => ({
    status: 400,
    headers: { "content-type": "application/json" },
    chunks: [JSON.stringify({ error: { message, type: "invalid_request_error" } })],
  });
  const effortsOf = (count: number) =>
    server.requests.slice(-count).map(({ body }) => (JSON.parse(body) as Body)["reasoning_effort"]);

  test(
    verifies("C36", "refused by the server: the request goes again without, and so do later ones, with a notice"),
    async () => {
      const { model } = createLiveSetup("openai-chat", server.url);
      server.answer(refusal("Invalid value for reasoning_effort: max"), { chunks: shortAnswers["openai-chat"] });
      const request = createRequest({ effort: "max" });
      for (const asked of [["max", undefined], [undefined]]) {
        const { error, text, events } = await readOutcome(model, request);
        expect([error, text]).toEqual([undefined, "Hello"]);
        expect(events.at(-1)).toMatchObject({
          notice: { code: "EFFORT_CHANGED", message: "Test model refused --effort max: requests go without it" },
        });
        expect(effortsOf(asked.length)).toEqual(asked);
      }
    },
  );

  test(verifies("C36", "another refusal is none of the effort's, and ends the turn"), async () => {
    const { model } = createLiveSetup("openai-chat", server.url);
    server.answer(refusal("the field tools is not supported"));
    const { error } = await readOutcome(model, createRequest({ effort: "low" }));
    expect(error?.code).toBe("PROVIDER_REJECTED");
    expect(effortsOf(1)).toEqual(["low"]);
  });

  test(verifies("C12", "summaries that are refused leave the effort as it is"), async () => {
    const { model } = createLiveSetup("openai-responses", server.url);
    const answers = [refusal("Your organization must be verified to generate reasoning summaries.")];
    server.answer(...answers, { chunks: shortAnswers["openai-responses"] });
    const { error, events } = await readOutcome(model, createRequest({ effort: "low", includesReasoning: true }));
    expect(error).toBeUndefined();
    const sent = server.requests.slice(-2).map(({ body }) => (JSON.parse(body) as Body)["reasoning"]);
    expect(sent).toEqual([{ effort: "low", summary: "auto" }, { effort: "low" }]);
    expect(events.at(-1)).not.toHaveProperty("notice");
  });
});
