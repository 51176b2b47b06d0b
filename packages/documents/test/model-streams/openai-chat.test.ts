import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { formatEventStream, readEveryCut, readPayloads } from "./read-every-cut.ts";
import { readChunks } from "./read-turn.ts";

const chunk = (delta: object, finish: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const calls = (...parts: readonly object[]) => chunk({ tool_calls: parts });
const read = (...payloads: readonly unknown[]) => readPayloads("openai-chat", payloads);
const named = (index: number, name: string) => ({ index, id: name, function: { name, arguments: "{}" } });
const pollute = (id: string, index: number) => ({
  index,
  id,
  function: { name: id, arguments: '{"__proto__":{"polluted":true}}' },
});
const both = (content: string, whole: string) => ({
  choices: [{ index: 0, delta: { content }, message: { content: whole } }],
});
const readUsage = (...payloads: readonly unknown[]) => read(...payloads).end.usage;
const countFrom = (prompt: number) => ({ prompt_tokens: prompt, completion_tokens: 2, total_tokens: prompt + 2 });

describe("tool calls", () => {
  test(verifies("N29", "are told apart by index, and the first id and name win"), () => {
    const turn = read(
      calls({ index: 1, id: "b", function: { name: "second", arguments: '{"b":' } }),
      calls({ index: 0, id: "a", function: { name: "first", arguments: "{" } }),
      calls({ index: 1, id: "", function: { name: "", arguments: "1" } }),
      calls(
        { index: 0, id: "z", function: { name: "other", arguments: "}" } },
        { index: 1, function: { arguments: "}" } },
      ),
    );
    expect(turn.toolCalls).toMatchObject([
      { toolName: "second", providerCallId: "b", text: '{"b":1}', arguments: { b: 1 } },
      { toolName: "first", providerCallId: "a", text: "{}", arguments: {} },
    ]);
  });

  test(verifies("N29", "without index by a new id, else the last one goes on"), () => {
    const turn = read(
      calls({ id: "a", function: { name: "first", arguments: '{"a":' } }),
      calls({ function: { arguments: "1}" } }),
      calls({ id: "b", function: { name: "second", arguments: "" } }),
      calls({ index: null, function: { arguments: '{"b":2}' } }),
    );
    expect(turn.toolCalls).toMatchObject([
      { toolName: "first", arguments: { a: 1 } },
      { toolName: "second", arguments: { b: 2 } },
    ]);
  });

  test(verifies("N29", "that all carry index 0, or neither index nor id, are whole calls"), () => {
    const first = { function: { name: "get", arguments: '{"a":"}"}' } };
    const second = { function: { name: "get", arguments: '{"a":2}' } };
    const expected = [{ arguments: { a: "}" } }, { arguments: { a: 2 } }];
    expect(read(calls(first), calls(second)).toolCalls).toMatchObject(expected);
    expect(
      read(calls({ index: 0, id: "a", ...first }), calls({ index: 0, id: "b", ...second })).toolCalls,
    ).toMatchObject(expected);
  });

  test("an index with a new id goes on while its arguments are open", () => {
    const turn = read(
      calls({ index: 0, id: "a", function: { name: "get", arguments: '{"a":' } }),
      calls({ index: 0, id: "b", function: { name: "get", arguments: "1}" } }),
      calls({ index: 0, id: "c", function: { name: "get", arguments: " " } }),
    );
    expect(turn.toolCalls).toMatchObject([{ providerCallId: "a", text: '{"a":1} ', arguments: { a: 1 } }]);
  });

  test("start with their name, however late it comes", () => {
    const turn = read(
      calls({ index: 0, id: "a", function: { arguments: '{"a"' } }),
      calls({ index: 0, function: null }),
      calls({ index: 0, function: { name: "late", arguments: ":" } }),
      calls({ index: 0, function: { arguments: "1}" } }),
    );
    expect(turn.events).toMatchObject([
      { type: "tool_call_start", toolName: "late", providerCallId: "a", documentType: "tool_call" },
      { type: "tool_call_arguments_delta", delta: '{"a"' },
      { type: "tool_call_arguments_delta", delta: ":" },
      { type: "tool_call_arguments_delta", delta: "1}" },
      { type: "tool_call_arguments", arguments: { a: 1 } },
      { type: "turn_end", finishReason: "unknown" },
    ]);
  });

  test("without any name are kept, without anything at all are dropped", () => {
    const turn = read(
      calls({ index: 0, function: null }),
      calls({ index: 1, function: { arguments: "{}" } }),
      calls({ index: 2, id: "c" }),
    );
    expect(turn.toolCalls).toMatchObject([
      { toolName: "", text: "{}", providerCallId: undefined },
      { toolName: "", text: "", providerCallId: "c" },
    ]);
  });

  test(verifies("N28", "know their document by their tool"), () => {
    const turn = read(calls(named(0, "edit_file"), named(1, "run_terminal_cmd"), named(2, "anything")));
    expect(turn.toolCalls.map((toolCall) => toolCall.documentType)).toEqual([
      "file_edit",
      "terminal_command",
      "tool_call",
    ]);
  });

  test.each([
    ["", {}, undefined],
    ["  \n", {}, undefined],
    ["{}", {}, undefined],
    ['{"a":1}', { a: 1 }, undefined],
    ['{"a":', {}, '{"a":'],
    ["null", {}, undefined],
    ["[1]", {}, "[1]"],
    ['"{"', {}, '"{"'],
    ["{'a':1}", { a: 1 }, undefined],
  ])(verifies("N30", "with the arguments %j"), (text, parsed, raw) => {
    const turn = read(
      calls({ index: 0, id: "a", function: { name: "get", arguments: text.slice(0, 3) } }),
      calls({ index: 0, function: { arguments: text.slice(3) } }),
    );
    expect(turn.toolCalls).toEqual([expect.objectContaining({ text, arguments: parsed, rawArguments: raw })]);
  });

  test(verifies("N30", "nested deeper than can be written are no arguments"), () => {
    const text = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
    const part = calls({ index: 0, id: "a", function: { name: "get", arguments: text } });
    const [toolCall] = readChunks("openai-chat", [formatEventStream([part])]).toolCalls;
    expect(toolCall).toMatchObject({ arguments: {}, rawArguments: text });
  });

  test(verifies("N30", "of free text become an input, and their deltas JSON"), () => {
    const turn = read(
      calls({ index: 0, id: "a", type: "custom", custom: { name: "apply_patch", input: '*** "Begin"\n' } }),
      calls({ index: 0, custom: { input: "\ud83d" } }),
      calls({ index: 0, custom: { input: "\ude00\u2028" } }),
    );
    const [toolCall] = turn.toolCalls;
    expect(toolCall?.arguments).toEqual({ input: '*** "Begin"\n😀\u2028' });
    expect(JSON.parse(toolCall?.text ?? "")).toEqual(toolCall?.arguments);
  });

  test("arguments may be an object, and the call may be the old function_call", () => {
    const turn = read(
      calls({ index: 0, id: "a", function: { name: "get", arguments: { a: 1 } } }),
      chunk({ function_call: { name: "old", arguments: "{" } }),
      chunk({ function_call: { arguments: "}" } }),
    );
    expect(turn.toolCalls).toMatchObject([{ text: '{"a":1}' }, { toolName: "old", text: "{}" }]);
  });

  test("named like properties of every object are calls like others", () => {
    const turn = read(calls(pollute("__proto__", 0), pollute("constructor", 1), pollute("toString", 2)));
    expect(turn.toolCalls.map((toolCall) => toolCall.toolName)).toEqual(["__proto__", "constructor", "toString"]);
    expect(Reflect.get({}, "polluted")).toBe(undefined);
  });
});

describe("text", () => {
  test("only of choice 0", () => {
    const other = {
      choices: [{ index: 1, delta: { content: "no" }, finish_reason: "length" }, { delta: { content: "yes" } }],
    };
    expect(read(other)).toMatchObject({ text: "yes", report: { finish: null } });
  });

  test.each(["reasoning_content", "reasoning", "thinking"])("reasoning as %s", (name) => {
    expect(read(chunk({ [name]: "hm" }), chunk({ content: "a" }))).toMatchObject({ reasoning: "hm", text: "a" });
  });

  test("reasoning that comes under several names comes once", () => {
    const details = [{ type: "reasoning.text", text: "hm" }];
    expect(read(chunk({ reasoning_content: "hm", reasoning: "hm", reasoning_details: details })).reasoning).toBe("hm");
    expect(read(chunk({ reasoning: null, reasoning_details: details })).reasoning).toBe("hm");
  });

  test("as parts, with thoughts among them", () => {
    const thinking = { type: "thinking", thinking: [{ type: "text", text: "hm" }] };
    expect(read(chunk({ content: [thinking, { type: "text", text: "a" }] }))).toMatchObject({
      reasoning: "hm",
      text: "a",
    });
  });

  test("of the older completions", () => {
    expect(read({ choices: [{ index: 0, text: "a", finish_reason: "stop" }] }, "[DONE]").text).toBe("a");
  });

  test(verifies("N25", "that a chunk repeats in the field of the older completions comes once"), () => {
    const repeat = (text: string, delta: object) => ({ choices: [{ index: 0, text, delta, finish_reason: null }] });
    const parts = [{ type: "text", text: "c" }];
    const turn = read(repeat("a", { content: "a" }), repeat("", { content: "b" }), repeat("c", { content: parts }));
    expect(turn.text).toBe("abc");
    expect(read(repeat("a", { role: "assistant" }), repeat("b", { content: "" })).text).toBe("ab");
  });

  test("of an answer that is not streamed", () => {
    const message = { content: "a", tool_calls: [{ id: "x", function: { name: "get", arguments: "{}" } }] };
    const answer = {
      id: "c",
      object: "chat.completion",
      choices: [{ index: 0, message, finish_reason: "tool_calls" }],
      usage: { prompt_tokens: 1, completion_tokens: 2 },
    };
    const turn = readEveryCut("openai-chat", JSON.stringify(answer, null, 2));
    expect(turn).toMatchObject({
      text: "a",
      toolCalls: [{ toolName: "get" }],
      end: { finishReason: "tool_calls", usage: { totalTokens: 3 } },
    });
    expect(turn.report).toMatchObject({ ended: "message", responseId: "c" });
  });

  test("a delta counts, not the whole message beside it", () => {
    expect(read(both("a", "a"), both("b", "ab"))).toMatchObject({ text: "ab", report: { ended: null } });
  });
});

describe("end", () => {
  test.each([
    ["stop", "stop"],
    ["length", "max_tokens"],
    ["tool_calls", "tool_calls"],
    ["function_call", "tool_calls"],
    ["content_filter", "content_filter"],
    ["error", "error"],
    ["insufficient_system_resource", "error"],
    ["something_new", "unknown"],
    ["__proto__", "unknown"],
  ])("%s is %s", (raw, finishReason) => {
    expect(read(chunk({ content: "a" }), chunk({}, raw), "[DONE]").end).toMatchObject({
      finishReason,
      rawFinishReason: raw,
    });
  });

  test("stop behind a call is tool_calls", () => {
    const turn = read(calls({ index: 0, id: "a", function: { name: "get", arguments: "{}" } }), chunk({}, "stop"));
    expect(turn.end).toMatchObject({ finishReason: "tool_calls", rawFinishReason: "stop" });
  });

  test("a refusal stands in the report", () => {
    const turn = read(chunk({ refusal: "I can" }), chunk({ refusal: "not" }), chunk({}, "stop"));
    expect(turn).toMatchObject({ text: "", report: { refusal: "I cannot" }, end: { finishReason: "refusal" } });
  });

  test("an error behind output", () => {
    const turn = read(
      chunk({ content: "a" }),
      { error: { message: "gone", type: "server_error", code: null } },
      chunk({}, "stop"),
      "[DONE]",
    );
    expect(turn).toMatchObject({ text: "a", end: { finishReason: "error", rawFinishReason: "stop" } });
    expect(turn.report.errors).toMatchObject([{ code: "server_error", message: "gone" }]);
  });

  test("an error without an envelope", () => {
    const turn = read({ object: "error", message: "too long", type: "BadRequestError", code: 400 });
    expect(turn.report.errors).toMatchObject([{ code: "400", type: "BadRequestError", message: "too long" }]);
  });

  test("filter results and empty choices are no output", () => {
    const filter = {
      choices: [{ index: 0, content_filter_results: {}, finish_reason: null }],
      prompt_filter_results: [],
    };
    const turn = read(
      { choices: [], prompt_filter_results: [{}] },
      chunk({ role: "", content: "" }),
      filter,
      chunk({}, "stop"),
    );
    expect(turn.events.map((event) => event.type)).toEqual(["turn_end"]);
  });
});

describe("usage", () => {
  test(verifies("N6", "the last one counts, wherever it stands"), () => {
    expect(readUsage({ choices: [], usage: countFrom(1) }, { choices: [], usage: countFrom(7) })).toEqual({
      promptTokens: 7,
      completionTokens: 2,
      totalTokens: 9,
    });
    expect(readUsage({ ...chunk({}, "stop"), x_groq: { id: "r", usage: countFrom(3) } })).toMatchObject({
      totalTokens: 5,
    });
  });

  test.each([
    ["included", { completion_tokens: 20, total_tokens: 30 }, 20],
    ["not in the completion but in the total", { completion_tokens: 20, total_tokens: 42 }, 32],
    ["larger than the completion", { completion_tokens: 5, total_tokens: 15 }, 17],
  ])(verifies("N6", "reasoning %s"), (_title, raw, completionTokens) => {
    const usage = { prompt_tokens: 10, ...raw, completion_tokens_details: { reasoning_tokens: 12 } };
    expect(readUsage({ usage })).toEqual({
      promptTokens: 10,
      completionTokens,
      totalTokens: 10 + completionTokens,
      reasoningTokens: 12,
    });
  });

  test(verifies("N6", "cached tokens under their three names, and written ones"), () => {
    const base = { prompt_tokens: 10, completion_tokens: 1 };
    const expected = { promptTokens: 10, cachedPromptTokens: 8 };
    expect(
      readUsage({ usage: { ...base, prompt_tokens_details: { cached_tokens: 8, cache_write_tokens: 2 } } }),
    ).toMatchObject({ ...expected, cacheWriteTokens: 2 });
    expect(readUsage({ usage: { ...base, prompt_cache_hit_tokens: 8 } })).toMatchObject(expected);
    expect(readUsage({ usage: { ...base, cached_tokens: 8, prompt_tokens_details: null } })).toMatchObject(expected);
  });

  test(verifies("N6", "of numbers that are none"), () => {
    expect(readUsage({ usage: { prompt_tokens: "7", completion_tokens: -1, total_tokens: null } })).toMatchObject({
      estimated: true,
    });
    expect(readUsage({ usage: { prompt_tokens: 1e300, completion_tokens: 1.5 } })).toEqual({
      promptTokens: 0,
      completionTokens: 2,
      totalTokens: 2,
    });
    expect(readUsage({ usage: { prompt_tokens: 7 } })).toEqual({
      promptTokens: 7,
      completionTokens: 0,
      totalTokens: 7,
    });
  });
});
