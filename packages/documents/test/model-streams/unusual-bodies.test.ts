/** Answers in forms that few servers send: nothing of them is lost. */
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { readEveryCut, readPayloads } from "./read-every-cut.ts";

const chunk = (choice: object, more: object = {}) => ({ choices: [{ index: 0, ...choice }], ...more });

describe("chat completions", () => {
  test(verifies("N25", "a message that grows beside empty deltas is the text"), () => {
    const turn = readPayloads("openai-chat", [
      chunk({ delta: { role: "assistant", content: "" }, message: { content: "" } }),
      chunk({ delta: { content: "" }, message: { content: "one" } }),
      chunk({ delta: { content: "" }, message: { content: "one two" }, finish_reason: "stop" }),
    ]);
    expect(turn).toMatchObject({ text: "one two", end: { finishReason: "stop" } });
  });

  test("a message beside deltas with text counts for nothing", () => {
    const turn = readPayloads("openai-chat", [
      chunk({ delta: { content: "one" }, message: { content: "one" } }),
      chunk({ delta: { content: "" }, message: { content: "one." }, finish_reason: "stop" }),
    ]);
    expect(turn.text).toBe("one");
  });

  test.each([
    ["event lines", "event: x\n", "\n"],
    ["blank lines", "", "\n"],
  ])("payloads without %s between them", (_, before, between) => {
    const lines = [chunk({ delta: { content: "a" } }), chunk({ delta: { content: "b" }, finish_reason: "stop" })];
    const body = [...lines.map((line) => JSON.stringify(line)), "[DONE]"].map((data) => `${before}data: ${data}`);
    const turn = readEveryCut("openai-chat", body.join(between));
    expect(turn).toMatchObject({ text: "ab", report: { ended: "[DONE]", unparsable: 0 } });
  });

  test("one payload over two lines stays one", () => {
    const turn = readEveryCut("openai-chat", 'data: {"choices":[\ndata: {"delta":{"content":"a"}}]}\n\n');
    expect(turn).toMatchObject({ text: "a", report: { payloads: 1 } });
  });
});

test.each([
  [{ detail: "Not Found" }, "Not Found"],
  [{ detail: [{ loc: ["body"], msg: "field required" }] }, '[{"loc":["body"],"msg":"field required"}]'],
  [{ message: "invalid api token" }, "invalid api token"],
])("a gateway's error is an error: %j", (payload, message) => {
  for (const format of ["openai-chat", "openai-responses", "anthropic-messages", "gemini", "cohere-chat"] as const) {
    const turn = readEveryCut(format, JSON.stringify(payload));
    expect(turn).toMatchObject({ end: { finishReason: "error" }, report: { errors: [{ message }] } });
  }
});

test("Cohere: an answer that is not streamed", () => {
  const answer = {
    id: "c",
    message: {
      role: "assistant",
      tool_plan: "look",
      content: [{ type: "text", text: "a" }],
      tool_calls: [{ id: "t", type: "function", function: { name: "now", arguments: '{"x":1}' } }],
    },
    finish_reason: "TOOL_CALL",
    usage: { tokens: { input_tokens: 3, output_tokens: 2 } },
  };
  expect(readEveryCut("cohere-chat", JSON.stringify(answer))).toMatchObject({
    text: "a",
    reasoning: "look",
    toolCalls: [{ toolName: "now", arguments: { x: 1 } }],
    end: { finishReason: "tool_calls", usage: { totalTokens: 5 } },
    report: { isWhole: true, responseId: "c" },
  });
});

test("Responses: an item without its index is found by its id", () => {
  const item = { type: "function_call", id: "fc", call_id: "c", name: "now", arguments: "{}" };
  const turn = readPayloads("openai-responses", [
    { type: "response.output_item.added", output_index: 0, item: { ...item, arguments: "" } },
    { type: "response.output_item.done", item },
    { type: "response.completed", response: { status: "completed", output: [item] } },
  ]);
  expect(turn.toolCalls).toHaveLength(1);
});

test.each([
  ["apply_patch_call", "operation", { type: "update_file", path: "a.ts", diff: "@@" }],
  ["local_shell_call", "action", { type: "exec", command: ["ls"] }],
  ["shell_call", "action", { commands: ["ls"] }],
])("Responses: %s is a call for the client", (type, field, asked) => {
  const item = { type, id: "i", call_id: "c", [field]: asked, status: "completed" };
  const turn = readPayloads("openai-responses", [
    { type: "response.output_item.added", output_index: 0, item: { type, id: "i", call_id: "c" } },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { status: "completed", output: [item] } },
  ]);
  expect(turn.toolCalls).toMatchObject([
    { toolName: type.replace("_call", ""), providerCallId: "c", arguments: asked },
  ]);
  expect(turn.end.finishReason).toBe("tool_calls");
});

describe("Gemini", () => {
  test.each(["OTHER", "SAFETY", "BLOCK_REASON_UNSPECIFIED"])("a prompt that was blocked: %s", (blockReason) => {
    const turn = readPayloads("gemini", [{ promptFeedback: { blockReason } }]);
    expect(turn.end).toMatchObject({ finishReason: "content_filter", rawFinishReason: blockReason });
  });

  test.each(["OTHER", "LANGUAGE", "NO_IMAGE"])("half a text that ends with %s is no whole answer", (finishReason) => {
    const turn = readPayloads("gemini", [{ candidates: [{ content: { parts: [{ text: "half" }] }, finishReason }] }]);
    expect(turn).toMatchObject({ text: "half", end: { finishReason: "error", rawFinishReason: finishReason } });
  });
});

test.each([
  [{ prompt_tokens: 5, completion_tokens: 2, completion_tokens_details: { reasoning_tokens: 9 } }, [5, 11]],
  [{ prompt_tokens: 5, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 7 } }, [12, 2]],
])(verifies("N6", "a part that is larger than its whole was counted beside it: %j"), (usage, [prompt, completion]) => {
  const { end } = readPayloads("openai-chat", [chunk({ delta: { content: "a" }, finish_reason: "stop" }, { usage })]);
  expect(end.usage).toMatchObject({ promptTokens: prompt, completionTokens: completion });
});

test(verifies("N30", "a gateway's empty free text beside a function is no input"), () => {
  const asked = { function: { name: "now", arguments: '{"x":1}' }, custom: { name: "", input: "" }, id: "t" };
  const turn = readPayloads("openai-chat", [chunk({ message: { tool_calls: [asked] }, finish_reason: "stop" })]);
  expect(turn.toolCalls).toMatchObject([{ toolName: "now", providerCallId: "t", arguments: { x: 1 } }]);
});

test("Responses: a search of tools waits for the client, unless the provider makes it", () => {
  const item = { type: "tool_search_call", execution: "client", call_id: "c", arguments: { goal: "x" } };
  const read = (output: object) =>
    readPayloads("openai-responses", [{ object: "response", status: "completed", output }]);
  expect(read([item])).toMatchObject({
    toolCalls: [{ toolName: "tool_search", providerCallId: "c", arguments: { goal: "x" } }],
    end: { finishReason: "tool_calls" },
  });
  expect(read([{ ...item, execution: "server" }]).toolCalls).toEqual([]);
});

test(verifies("N69", "Responses: a call that waits for an approval has no result"), () => {
  const item = { type: "mcp_approval_request", id: "c", server_label: "zip", name: "make", arguments: "{}" };
  const { events } = readPayloads("openai-responses", [{ object: "response", status: "completed", output: [item] }]);
  expect(events).toMatchObject([
    { type: "tool_call_start", toolName: "zip.make", origin: "provider" },
    {},
    { type: "tool_call_arguments", arguments: { server_label: "zip", arguments: "{}" } },
    { type: "tool_result", status: "error", error: { code: "NOT_EXECUTED" } },
    { type: "turn_end" },
  ]);
});

test.each(["queued", "in_progress"])("Responses: an answer that is %s isn't complete", (status) => {
  const output = [{ type: "message", content: [{ type: "output_text", text: "half" }] }];
  expect(readPayloads("openai-responses", [{ object: "response", status, output }]).end.finishReason).toBe("error");
});
