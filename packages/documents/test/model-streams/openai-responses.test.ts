import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { readEveryCut, readPayloads } from "./read-every-cut.ts";

const read = (...payloads: readonly unknown[]) => readPayloads("openai-responses", payloads);
const added = (index: number, item: object) => ({ type: "response.output_item.added", output_index: index, item });
const done = (index: number, item: object) => ({ type: "response.output_item.done", output_index: index, item });
const at = (type: string, index: number, fields: object) => ({
  type: `response.${type}`,
  output_index: index,
  content_index: 0,
  ...fields,
});
const summary = (index: number, fields: object) => ({ output_index: 0, summary_index: index, ...fields });
const completed = (response: object = {}) => ({
  type: "response.completed",
  response: { status: "completed", ...response },
});
const message = { type: "message", id: "m" };
const call = { type: "function_call", id: "f", call_id: "c", name: "get" };

describe("text", () => {
  test("comes once, however often it is said", () => {
    const part = { type: "output_text", text: "ab" };
    const turn = read(
      added(0, message),
      at("output_text.delta", 0, { delta: "a" }),
      at("output_text.delta", 0, { delta: "b" }),
      at("output_text.done", 0, { text: "ab" }),
      at("output_text.done", 0, { text: "ab" }),
      at("content_part.done", 0, { part }),
      done(0, { ...message, content: [part] }),
      done(0, { ...message, content: [part] }),
      completed({ output: [{ ...message, content: [part] }] }),
    );
    expect(turn.text).toBe("ab");
    expect(turn.report).toMatchObject({ ended: "response.completed", finish: "completed" });
  });

  const part = { type: "output_text", text: "ab" };
  const whole = { ...message, content: [part] };
  test.each([
    ["text", [added(0, message), at("output_text.done", 0, { text: "ab" }), done(0, whole)]],
    ["part", [added(0, message), at("content_part.done", 0, { part }), done(0, whole)]],
    ["item", [added(0, message), done(0, whole), completed({ output: [whole] })]],
    ["item that was never announced", [done(0, whole), done(0, whole)]],
    ["response", [completed({ output: [whole] })]],
  ])("comes from the end of the %s if it was not streamed", (_title, payloads) => {
    expect(read(...payloads).text).toBe("ab");
  });

  test("of a second part that was not streamed", () => {
    const turn = read(
      added(0, message),
      at("output_text.delta", 0, { delta: "a" }),
      { ...at("output_text.done", 0, { text: "b" }), content_index: 1 },
      done(0, {
        ...message,
        content: [
          { type: "output_text", text: "a" },
          { type: "output_text", text: "b" },
        ],
      }),
    );
    expect(turn.text).toBe("ab");
  });

  test("goes by the place of an item, not by an id that changes", () => {
    const turn = read(
      added(0, { type: "message", id: "x1" }),
      at("output_text.delta", 0, { item_id: "x2", delta: "a" }),
      at("output_text.done", 0, { item_id: "x3", text: "a" }),
      done(0, { ...whole, id: "x4" }),
    );
    expect(turn.text).toBe("a");
  });

  test("of a stream that is joined in its middle", () => {
    const turn = read({ type: "response.output_text.delta", item_id: "m", content_index: 0, delta: "b" }, completed());
    expect(turn.text).toBe("b");
  });

  test("reasoning itself and its summaries", () => {
    const turn = read(
      added(0, { type: "reasoning", id: "r" }),
      { type: "response.reasoning_summary_text.delta", ...summary(0, { delta: "a" }) },
      { type: "response.reasoning_summary_text.done", ...summary(0, { text: "a" }) },
      { type: "response.reasoning_summary_text.done", ...summary(1, { text: "b" }) },
      at("reasoning_text.delta", 0, { delta: "c" }),
      done(0, { type: "reasoning", summary: [{ type: "summary_text", text: "ab" }], encrypted_content: "secret" }),
      done(1, {
        type: "reasoning",
        summary: [{ type: "summary_text", text: "d" }],
        content: [{ type: "reasoning_text", text: "e" }],
      }),
    );
    expect(turn).toMatchObject({ text: "", reasoning: "abcde", report: { signatures: [{ value: "secret" }] } });
  });

  test("a refusal stands in the report", () => {
    const turn = read(
      added(0, message),
      at("refusal.delta", 0, { delta: "No" }),
      at("refusal.done", 0, { refusal: "No" }),
      at("content_part.done", 0, { part: { type: "refusal", refusal: "No" } }),
      done(0, { ...message, content: [{ type: "refusal", refusal: "No" }] }),
      completed(),
    );
    expect(turn).toMatchObject({ text: "", report: { refusal: "No" }, end: { finishReason: "refusal" } });
    expect(read(done(0, { ...message, content: [{ type: "refusal", refusal: "No" }] })).report.refusal).toBe("No");
  });

  test("of an answer that is not streamed", () => {
    const answer = {
      id: "r",
      object: "response",
      model: "m",
      status: "completed",
      error: null,
      output: [whole, { ...call, arguments: '{"a":1}' }],
    };
    const turn = readEveryCut("openai-responses", JSON.stringify(answer));
    expect(turn).toMatchObject({
      text: "ab",
      toolCalls: [{ arguments: { a: 1 } }],
      end: { finishReason: "tool_calls" },
    });
    expect(turn.report).toMatchObject({ ended: "response", responseId: "r", model: "m" });
  });

  test("types come from the event lines where the payloads have none", () => {
    const turn = readEveryCut(
      "openai-responses",
      'event: response.output_text.delta\ndata: {"output_index":0,"delta":"a"}\n\n',
    );
    expect(turn.text).toBe("a");
  });
});

describe("tool calls", () => {
  test(verifies(["N29", "N30"], "end with the arguments as they are said at the end"), () => {
    const turn = read(
      added(0, { ...call, arguments: "" }),
      at("function_call_arguments.delta", 0, { delta: '{"a":' }),
      at("function_call_arguments.done", 0, { arguments: '{"a":1}' }),
      at("function_call_arguments.done", 0, { arguments: '{"a":2}' }),
      done(0, { ...call, arguments: '{"a":3}' }),
    );
    expect(turn.toolCalls).toMatchObject([
      { providerCallId: "c", toolName: "get", text: '{"a":', arguments: { a: 1 } },
    ]);
  });

  test(verifies("N30", "keep deltas that parse when the end does not"), () => {
    const turn = read(
      added(0, call),
      at("function_call_arguments.delta", 0, { delta: '{"a":1}' }),
      at("function_call_arguments.done", 0, { arguments: '{"a":1}{' }),
    );
    expect(turn.toolCalls).toMatchObject([{ arguments: { a: 1 }, rawArguments: undefined }]);
  });

  test.each([
    ["the arguments' end", [added(0, call), at("function_call_arguments.done", 0, { arguments: '{"a":1}' })]],
    ["the item's end", [added(0, call), done(0, { ...call, arguments: '{"a":1}' })]],
    ["an item that was never announced", [done(0, { ...call, arguments: '{"a":1}' })]],
    [
      "a name that comes with the item's end",
      [
        added(0, { type: "function_call" }),
        at("function_call_arguments.delta", 0, { delta: '{"a":1}' }),
        at("function_call_arguments.done", 0, { arguments: '{"a":1}' }),
        done(0, call),
      ],
    ],
  ])("come from %s", (_title, payloads) => {
    expect(read(...payloads).toolCalls).toMatchObject([
      { providerCallId: "c", toolName: "get", text: '{"a":1}', arguments: { a: 1 } },
    ]);
  });

  test("of a body that was cut", () => {
    const turn = read(added(0, call), at("function_call_arguments.delta", 0, { delta: '{"a' }));
    expect(turn).toMatchObject({
      toolCalls: [{ arguments: {}, rawArguments: '{"a' }],
      end: { finishReason: "unknown" },
      report: { ended: null },
    });
  });

  test(verifies("N30", "of free text become an input"), () => {
    const custom = { type: "custom_tool_call", call_id: "c", name: "patch" };
    const turn = read(
      added(0, { ...custom, input: "" }),
      at("custom_tool_call_input.delta", 0, { delta: '"a\n' }),
      at("custom_tool_call_input.delta", 0, { delta: "b" }),
      at("custom_tool_call_input.done", 0, { input: '"a\nb' }),
      done(1, { ...custom, call_id: "d", input: "c" }),
    );
    expect(turn.toolCalls).toMatchObject([
      { providerCallId: "c", text: '{"input":"\\"a\\nb"}', arguments: { input: '"a\nb' } },
      { providerCallId: "d", text: '{"input":"c"}', arguments: { input: "c" } },
    ]);
  });

  test("pieces for an item that nobody announced are harmless", () => {
    const turn = read(
      { type: "response.function_call_arguments.delta", item_id: "constructor", delta: "{}" },
      { type: "response.function_call_arguments.done", item_id: "__proto__", arguments: '{"polluted":true}' },
      completed(),
    );
    expect(turn.toolCalls).toEqual([]);
    expect(Reflect.get({}, "polluted")).toBe(undefined);
  });

  test("what the server runs is no call", () => {
    const turn = read(
      added(0, { type: "web_search_call", id: "w" }),
      done(0, { type: "web_search_call", id: "w" }),
      added(1, { type: "mcp_call", id: "q", name: "ask" }),
      at("mcp_call_arguments.delta", 1, { delta: "{}" }),
      done(2, { type: "compaction" }),
      completed(),
    );
    expect(turn).toMatchObject({ toolCalls: [], end: { finishReason: "stop" } });
    expect(turn.report.serverItems).toEqual([
      { type: "web_search_call", id: "w" },
      { type: "mcp_call", id: "q" },
      { type: "compaction" },
    ]);
  });
});

describe("end", () => {
  test.each([
    ["max_output_tokens", "max_tokens"],
    ["content_filter", "content_filter"],
  ])("incomplete because of %s", (reason, finishReason) => {
    const turn = read({
      type: "response.incomplete",
      response: { status: "incomplete", incomplete_details: { reason } },
    });
    expect(turn).toMatchObject({
      end: { finishReason, rawFinishReason: reason },
      report: { ended: "response.incomplete" },
    });
  });

  test("failed, with the error in both of its places", () => {
    const error = { code: "server_error", message: "oops" };
    const turn = read(
      { type: "error", error },
      { type: "response.failed", response: { error, incomplete_details: { reason: "max_output_tokens" } } },
    );
    expect(turn.report).toMatchObject({
      ended: "response.failed",
      finish: "max_output_tokens",
      errors: [error, error],
    });
    expect(turn.end.finishReason).toBe("error");
  });

  test("failed without a reason", () => {
    expect(read({ type: "response.failed", response: { error: null } }).end).toMatchObject({
      finishReason: "error",
      rawFinishReason: "failed",
    });
  });

  test("an error without an envelope, and no end", () => {
    const turn = read({ type: "error", code: "rate_limit_exceeded", message: "slow down", param: null });
    expect(turn.report).toMatchObject({ ended: null, errors: [{ code: "rate_limit_exceeded", message: "slow down" }] });
  });

  test("completed and [DONE]", () => {
    expect(read(completed(), "[DONE]", "[DONE]").report.ended).toBe("response.completed + [DONE]");
  });

  test(verifies("N6", "usage"), () => {
    const usage = {
      input_tokens: 10,
      output_tokens: 20,
      total_tokens: 30,
      input_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
      output_tokens_details: { reasoning_tokens: 5 },
    };
    expect(read(completed({ usage })).end.usage).toEqual({
      promptTokens: 10,
      completionTokens: 20,
      totalTokens: 30,
      reasoningTokens: 5,
      cachedPromptTokens: 4,
      cacheWriteTokens: 2,
    });
    expect(read(completed({ usage: null })).end.usage.estimated).toBe(true);
  });
});
