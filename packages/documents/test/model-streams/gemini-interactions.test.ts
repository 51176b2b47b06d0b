/** Answers of Google's Interactions API. */
import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { findStreamFormat } from "../../src/find-format.ts";
import { readEveryCut, readPayloads } from "./read-every-cut.ts";

const usage = {
  total_input_tokens: 5,
  total_tool_use_tokens: 1,
  total_cached_tokens: 2,
  total_output_tokens: 3,
  total_thought_tokens: 4,
};
const event = (event_type: string, more: object = {}) => ({ ...more, event_type });
const interaction = (status: string, more: object = {}) => ({
  object: "interaction",
  id: "v1_a",
  model: "g",
  status,
  ...more,
});
const start = (index: number, step: object) => event("step.start", { index, step });
const delta = (index: number, piece: object) => event("step.delta", { index, delta: piece });
const stop = (index: number) => event("step.stop", { index });

const steps = [
  { type: "thought", signature: "s", summary: [{ type: "text", text: "hm" }] },
  { type: "model_output", content: [{ type: "text", text: "a b" }] },
  { type: "function_call", id: "f", name: "look", arguments: { path: "x" } },
];

const streamed = [
  event("interaction.created", { interaction: interaction("in_progress") }),
  start(0, { type: "thought" }),
  delta(0, { type: "thought_summary", content: { type: "text", text: "hm" } }),
  delta(0, { type: "thought_signature", signature: "s" }),
  stop(0),
  start(1, { type: "model_output" }),
  delta(1, { type: "text", text: "a " }),
  delta(1, { type: "text", text: "b" }),
  stop(1),
  start(2, { type: "function_call", id: "f", name: "look", arguments: {} }),
  delta(2, { type: "arguments_delta", arguments: '{"path":' }),
  delta(2, { type: "arguments_delta", arguments: '"x"}' }),
  stop(2),
  event("interaction.completed", { interaction: interaction("requires_action", { usage }) }),
];

const earlier = [
  event("interaction.start", { interaction: interaction("in_progress") }),
  event("content.start", { index: 0, content: { type: "thought" } }),
  event("content.delta", { index: 0, delta: { type: "thought_summary", content: { text: "hm" } } }),
  event("content.delta", { index: 0, delta: { type: "thought_signature", signature: "s" } }),
  event("content.stop", { index: 0 }),
  event("content.delta", { index: 1, delta: { type: "text", text: "a b" } }),
  event("content.delta", {
    index: 2,
    delta: { type: "function_call", id: "f", name: "look", arguments: { path: "x" } },
  }),
  event("content.stop", { index: 2 }),
  event("interaction.complete", { interaction: interaction("requires_action", { usage }) }),
];

test.each([
  ["events", streamed],
  ["events by their earlier names", earlier],
  ["a whole answer", [interaction("requires_action", { usage, steps: [{ type: "user_input" }, ...steps] })]],
])(verifies("N25", "thoughts, text and calls of %s"), (_, payloads) => {
  expect(findStreamFormat(JSON.stringify(payloads[0]))).toBe("gemini");
  const body = payloads.map((payload) => `data: ${JSON.stringify(payload)}\n\n`).join("");
  expect(readEveryCut("gemini", body)).toMatchObject({
    text: "a b",
    reasoning: "hm",
    toolCalls: [{ toolName: "look", providerCallId: "f", arguments: { path: "x" } }],
    end: {
      finishReason: "tool_calls",
      usage: { promptTokens: 6, completionTokens: 7, reasoningTokens: 4, cachedPromptTokens: 2 },
    },
    report: { model: "g", responseId: "v1_a", signatures: [{ value: "s" }] },
  });
});

test(verifies("N69", "searches, code and images of Google are calls with results"), () => {
  const page = { type: "url_citation", url: "https://a.example/", title: "A" };
  const turn = readPayloads("gemini", [
    start(0, { type: "google_search_call", id: "q" }),
    delta(0, { type: "google_search_call", arguments: { queries: ["x"] } }),
    stop(0),
    start(1, { type: "google_search_result", call_id: "q" }),
    delta(1, { type: "google_search_result", result: [{ search_suggestions: "<style>" }] }),
    stop(1),
    start(2, { type: "code_execution_call", id: "c", arguments: { code: "1/0" } }),
    stop(2),
    start(3, { type: "code_execution_result", call_id: "c", result: "ZeroDivisionError", is_error: true }),
    stop(3),
    start(4, { type: "model_output" }),
    delta(4, { type: "text", text: "a" }),
    delta(4, { type: "text_annotation_delta", annotations: [page] }),
    delta(4, { type: "image", mime_type: "image/png", data: "AAAA" }),
    stop(4),
    event("interaction.completed", { interaction: interaction("completed") }),
  ]);
  const names = turn.events.flatMap((found) => (found.type === "tool_call_start" ? [found.toolName] : []));
  const results = turn.events.flatMap((found) => (found.type === "tool_result" ? [[found.status, found.output]] : []));
  expect(names).toEqual(["web_search", "code_execution", "image_generation"]);
  expect(results).toEqual([
    ["error", ""],
    ["success", "image/png, 3 bytes"],
    ["success", "https://a.example/ A"],
  ]);
  expect(turn.end.finishReason).toBe("stop");
});

test.each([
  ["incomplete", "max_tokens"],
  ["failed", "error"],
  ["in_progress", "error"],
])("an interaction that is %s ended with %s", (status, finishReason) => {
  const whole = interaction(status, { steps: [{ type: "model_output", content: [{ type: "text", text: "a" }] }] });
  expect(readPayloads("gemini", [whole]).end).toMatchObject({ finishReason });
});

test("an error event, and a stream without its end", () => {
  const failed = readPayloads("gemini", [event("error", { error: { code: "429", message: "slow down" } })]);
  expect(failed).toMatchObject({ end: { finishReason: "error" }, report: { errors: [{ message: "slow down" }] } });
  expect(readPayloads("gemini", streamed.slice(0, -3))).toMatchObject({
    toolCalls: [{ rawArguments: '{"path":' }],
    report: { isWhole: false },
  });
});
