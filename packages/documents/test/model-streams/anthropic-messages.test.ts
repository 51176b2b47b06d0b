import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { readEveryCut, readPayloads } from "./read-every-cut.ts";

const read = (...payloads: readonly unknown[]) => readPayloads("anthropic-messages", payloads);
const messageStart = (message: object = {}) => ({
  type: "message_start",
  message: { id: "m", content: [], ...message },
});
const start = (index: number, block: object) => ({ type: "content_block_start", index, content_block: block });
const delta = (index: number, fields: object) => ({ type: "content_block_delta", index, delta: fields });
const text = (index: number, piece: string) => delta(index, { type: "text_delta", text: piece });
const json = (index: number, piece: string) => delta(index, { type: "input_json_delta", partial_json: piece });
const stop = (index: number) => ({ type: "content_block_stop", index });
const messageDelta = (reason: string | null, usage?: object) => ({
  type: "message_delta",
  delta: { stop_reason: reason },
  usage,
});
const named = (type: string, payload: object) => `event: ${type}\ndata: ${JSON.stringify(payload)}\n\n`;
const tool = (id: string, input: object = {}) => ({ type: "tool_use", id, name: "get", input });
const messageStop = { type: "message_stop" };

describe("text", () => {
  test("and thinking, also what comes with the start of a block", () => {
    const turn = read(
      messageStart(),
      start(0, { type: "thinking", thinking: "h", signature: "s0" }),
      delta(0, { type: "thinking_delta", thinking: "m" }),
      delta(0, { type: "signature_delta", signature: "s1" }),
      stop(0),
      start(1, { type: "text", text: "a" }),
      text(1, "b"),
      delta(1, { type: "citations_delta", citation: { cited_text: "no" } }),
      delta(1, { type: "signature_delta", signature: "s2" }),
      stop(1),
    );
    expect(turn).toMatchObject({ text: "ab", reasoning: "hm" });
    expect(turn.report.signatures.map((signature) => signature.value)).toEqual(["s0", "s1", "s2"]);
  });

  test("without event lines, and with nothing but event lines for types", () => {
    const turn = readEveryCut(
      "anthropic-messages",
      named("content_block_delta", { index: 0, delta: { type: "text_delta", text: "a" } }) + named("message_stop", {}),
    );
    expect(turn).toMatchObject({ text: "a", report: { ended: "message_stop" } });
    expect(read({}, { index: 0 }).report.ended).toBe(null);
  });

  test("of a message that is not streamed", () => {
    const content = [
      { type: "thinking", thinking: "hm" },
      { type: "text", text: "a" },
      { type: "tool_use", id: "t", name: "get", input: { a: 1 } },
      { type: "tool_use", id: "u", name: "now", input: {} },
    ];
    const answer = {
      id: "m",
      type: "message",
      content,
      stop_reason: "tool_use",
      usage: { input_tokens: 1, output_tokens: 2 },
    };
    const turn = readEveryCut("anthropic-messages", JSON.stringify(answer, null, 1));
    expect(turn).toMatchObject({
      text: "a",
      reasoning: "hm",
      toolCalls: [{ arguments: { a: 1 } }, { toolName: "now", text: "", arguments: {} }],
      end: { finishReason: "tool_calls", usage: { totalTokens: 3 } },
      report: { ended: "message" },
    });
  });
});

describe("tool calls", () => {
  test(verifies("N29", "are written block by block"), () => {
    const turn = read(
      messageStart(),
      start(0, tool("a")),
      start(1, tool("b")),
      json(1, "{"),
      json(0, '{"x":1'),
      json(1, "}"),
      stop(1),
      json(0, "}"),
      stop(0),
    );
    expect(turn.toolCalls).toMatchObject([
      { providerCallId: "a", text: '{"x":1}' },
      { providerCallId: "b", text: "{}" },
    ]);
    expect(turn.events.filter((event) => event.type === "tool_call_arguments")).toMatchObject([
      { arguments: {} },
      { arguments: { x: 1 } },
    ]);
  });

  test("may have their input whole in the start; streamed input wins", () => {
    const turn = read(
      start(0, tool("a", { sql: "1" })),
      stop(0),
      start(1, tool("b", { sql: "draft" })),
      json(1, ""),
      json(1, '{"sql":"2"}'),
      stop(1),
    );
    expect(turn.toolCalls).toMatchObject([
      { text: '{"sql":"1"}', arguments: { sql: "1" } },
      { text: '{"sql":"2"}', arguments: { sql: "2" } },
    ]);
  });

  test("may stand in the message's start", () => {
    expect(read(messageStart({ content: [tool("a", { x: 1 })], stop_reason: "tool_use" }))).toMatchObject({
      toolCalls: [{ arguments: { x: 1 } }],
      end: { finishReason: "tool_calls" },
    });
  });

  test(verifies("N30", "of a body that is cut"), () => {
    const turn = read(
      messageStart({ usage: { input_tokens: 5, output_tokens: 1 } }),
      start(0, tool("a")),
      json(0, '{"x'),
    );
    expect(turn.toolCalls).toMatchObject([{ text: '{"x', arguments: {}, rawArguments: '{"x' }]);
    expect(turn).toMatchObject({
      end: { finishReason: "unknown", usage: { promptTokens: 5 } },
      report: { ended: null },
    });
  });

  test("whose block has no end are ended by the message", () => {
    const turn = read(start(0, tool("a")), json(0, "{}"), messageDelta("tool_use"), messageStop);
    expect(turn.events.map((event) => event.type)).toEqual([
      "tool_call_start",
      "tool_call_arguments_delta",
      "tool_call_arguments",
      "turn_end",
    ]);
  });

  test("of servers are server items, and so are other blocks", () => {
    const turn = read(
      messageStart(),
      start(0, { type: "server_tool_use", id: "s", name: "web_search", input: {} }),
      json(0, '{"query":'),
      json(0, '"q"}'),
      stop(0),
      start(1, { type: "web_search_tool_result", tool_use_id: "s", content: [] }),
      stop(1),
      start(2, { type: "mcp_tool_use", id: "q", name: "ask", input: { a: 1 } }),
      stop(2),
      start(3, { type: "redacted_thinking", data: "x" }),
      start(4, { type: "compaction", content: null }),
      delta(4, { type: "compaction_delta", content: "summary" }),
      start(5, { type: "fallback", from: {}, to: {} }),
      text(6, "a"),
    );
    expect(turn).toMatchObject({ text: "a", reasoning: "", toolCalls: [] });
    expect(turn.report.serverItems).toEqual([
      { type: "server_tool_use", id: "s", name: "web_search", arguments: '{"query":"q"}' },
      { type: "web_search_tool_result", id: "s" },
      { type: "mcp_tool_use", id: "q", name: "ask", arguments: '{"a":1}' },
      { type: "redacted_thinking" },
      { type: "compaction" },
      { type: "fallback" },
    ]);
  });
});

describe("end", () => {
  test.each([
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["tool_use", "tool_calls"],
    ["max_tokens", "max_tokens"],
    ["model_context_window_exceeded", "max_tokens"],
    ["refusal", "refusal"],
    ["pause_turn", "unknown"],
  ])("%s is %s", (raw, finishReason) => {
    const turn = read(messageStart(), messageDelta(raw), messageStop);
    expect(turn).toMatchObject({ end: { finishReason, rawFinishReason: raw }, report: { ended: "message_stop" } });
  });

  test("a refusal may say why", () => {
    const refused = { stop_reason: "refusal", stop_details: { type: "refusal", explanation: "Not this." } };
    expect(read({ type: "message_delta", delta: refused }).report.refusal).toBe("Not this.");
  });

  test("an error in mid-stream", () => {
    const turn = read(messageStart(), text(0, "a"), {
      type: "error",
      error: { type: "overloaded_error", message: "Overloaded" },
    });
    expect(turn).toMatchObject({ text: "a", end: { finishReason: "error" }, report: { ended: null } });
    expect(turn.report.errors).toMatchObject([
      { code: "overloaded_error", type: "overloaded_error", message: "Overloaded" },
    ]);
  });

  test("a second start joins both attempts and is told", () => {
    const turn = read(
      messageStart({ id: "m1", usage: { input_tokens: 10, output_tokens: 1 } }),
      start(0, { type: "tool_use", id: "a", name: "get", input: {} }),
      json(0, '{"x'),
      messageStart({ id: "m2", usage: { input_tokens: 20, output_tokens: 1 } }),
      start(0, { type: "text", text: "" }),
      text(0, "b"),
      stop(0),
      messageDelta("end_turn", { output_tokens: 7 }),
      messageStop,
    );
    expect(turn).toMatchObject({
      text: "b",
      toolCalls: [{ rawArguments: '{"x' }],
      end: { usage: { promptTokens: 20, completionTokens: 7 } },
    });
    expect(turn.report).toMatchObject({ restarts: 1, responseId: "m1" });
  });
});

describe("usage", () => {
  test(verifies("N6", "of start and delta, the cache in the prompt"), () => {
    const started = {
      input_tokens: 10,
      cache_read_input_tokens: 100,
      cache_creation_input_tokens: 30,
      output_tokens: 1,
    };
    const turn = read(
      messageStart({ usage: started }),
      messageDelta("end_turn", {
        input_tokens: null,
        output_tokens: 40,
        output_tokens_details: { thinking_tokens: 15 },
      }),
    );
    expect(turn.end.usage).toEqual({
      promptTokens: 140,
      completionTokens: 40,
      totalTokens: 180,
      reasoningTokens: 15,
      cachedPromptTokens: 100,
      cacheWriteTokens: 30,
    });
    expect(turn.report.usage).toMatchObject({ input_tokens: 10, output_tokens: 40 });
  });
});
