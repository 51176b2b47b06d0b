import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { createGeminiPartialArguments, parseJsonPath } from "../../src/model-streams/gemini-partial-arguments.ts";
import { readEveryCut, readPayloads } from "./read-every-cut.ts";

const answer = (parts: readonly object[], finishReason?: string) => ({
  candidates: [{ content: { role: "model", parts }, finishReason }],
});
const read = (...payloads: readonly unknown[]) => readPayloads("gemini", payloads);
const call = (functionCall: object) => answer([{ functionCall }]);
const partial = (...partialArgs: readonly object[]) => call({ partialArgs, willContinue: true });

const begin = (name: string) => call({ name, willContinue: true });
const piece = (stringValue: string, willContinue: boolean) => ({ jsonPath: "$.a", stringValue, willContinue });

/** The JSON text of arguments that came in these parts. */
const join = (...parts: readonly object[]) => {
  const partialArguments = createGeminiPartialArguments();
  partialArguments.add(parts);
  return partialArguments.formatArguments();
};

describe("parts", () => {
  test("thoughts are reasoning, and only candidate 0 counts", () => {
    const other = { candidates: [{ index: 1, content: { parts: [{ text: "no" }] }, finishReason: "STOP" }] };
    const turn = read(
      answer([{ text: "hm", thought: true }, { text: "a" }, { text: "", thoughtSignature: "s" }]),
      other,
    );
    expect(turn).toMatchObject({
      text: "a",
      reasoning: "hm",
      report: { ended: null, signatures: [{ value: "s" }], serverItems: [] },
    });
  });

  test("of the server are server items", () => {
    const turn = read(
      answer([
        { executableCode: { code: "1" } },
        { codeExecutionResult: {} },
        { thoughtSignature: "s", toolCall: {} },
        { thoughtSignature: "t" },
      ]),
    );
    expect(turn.report.serverItems).toEqual([
      { type: "executableCode" },
      { type: "codeExecutionResult" },
      { type: "toolCall" },
    ]);
  });

  test("may be wrapped, and may come whole", () => {
    expect(read({ response: answer([{ text: "a" }], "STOP") }).text).toBe("a");
    expect(readEveryCut("gemini", JSON.stringify(answer([{ text: "a" }], "STOP"), null, 2)).text).toBe("a");
  });
});

describe("tool calls", () => {
  test(verifies("N29", "come whole, with an id or without"), () => {
    const turn = read(
      answer(
        [
          { functionCall: { name: "now" } },
          { functionCall: { id: "x", name: "get", args: { b: 1, a: "}" } }, thoughtSignature: "s" },
        ],
        "STOP",
      ),
    );
    expect(turn.toolCalls).toMatchObject([
      { toolName: "now", providerCallId: undefined, text: "{}", arguments: {} },
      { toolName: "get", providerCallId: "x", text: '{"b":1,"a":"}"}', arguments: { b: 1, a: "}" } },
    ]);
    expect(turn.end).toMatchObject({ finishReason: "tool_calls", rawFinishReason: "STOP" });
    expect(turn.report.signatures).toEqual([{ callId: "call_002", value: "s" }]);
  });

  test(verifies("N30", "with streamed arguments are rebuilt"), () => {
    const turn = read(
      call({ name: "write", willContinue: true }),
      partial({ jsonPath: "$.steps[0].text", stringValue: "Fir", willContinue: true }),
      partial({ jsonPath: "$.steps[0].text", stringValue: "st" }, { jsonPath: "$.steps[0].price", numberValue: 0.5 }),
      call({ willContinue: true }),
      partial({ jsonPath: "$.steps[1]", nullValue: "NULL_VALUE" }, { jsonPath: "$['a b']", boolValue: false }),
      call({}),
      call({ name: "read", willContinue: true }),
      partial({ jsonPath: "$.path", stringValue: "x" }),
      answer([{ text: "a" }], "STOP"),
    );
    expect(turn.text).toBe("a");
    expect(turn.toolCalls).toMatchObject([
      { toolName: "write", arguments: { steps: [{ text: "First", price: 0.5 }, null], "a b": false } },
      { toolName: "read", arguments: { path: "x" }, text: '{"path":"x"}' },
    ]);
  });

  test(verifies("N30", "with streamed arguments, begun before the last one ended, or never ended"), () => {
    const parts = [{ jsonPath: "$.x", numberValue: 2 }];
    const turn = read(begin("a"), partial({ jsonPath: "$.x", numberValue: 1 }), begin("b"), partial(...parts));
    expect(turn.toolCalls).toMatchObject([
      { toolName: "a", arguments: { x: 1 } },
      { toolName: "b", arguments: {}, rawArguments: JSON.stringify(parts) },
    ]);
    expect(turn.end.finishReason).toBe("unknown");
  });

  test("an end without a beginning is nothing", () => {
    expect(read(call({}), answer([], "STOP")).events.map((event) => event.type)).toEqual(["turn_end"]);
  });
});

describe("partial arguments", () => {
  test("go on only where the part before said so", () => {
    expect(join(piece("x", true), { jsonPath: "$.b", stringValue: "-" }, piece("y", false))).toBe('{"a":"xy","b":"-"}');
    expect(join(piece("x", false), piece("y", false))).toBe('{"a":"y"}');
  });

  test.each([
    ["holes in an array", [{ jsonPath: "$.a[4000000000]", numberValue: 1 }]],
    ["a path that is none", [{ jsonPath: "a", numberValue: 1 }]],
    [
      "a place inside a text",
      [
        { jsonPath: "$.a", stringValue: "x" },
        { jsonPath: "$.a.b", numberValue: 1 },
      ],
    ],
    [
      "a name inside an array",
      [
        { jsonPath: "$.a[0]", numberValue: 1 },
        { jsonPath: "$.a.length", numberValue: 9 },
      ],
    ],
    ["no value", [{ jsonPath: "$.a" }]],
    ["a path without end", [{ jsonPath: `$${".a".repeat(101)}`, numberValue: 1 }]],
  ])(verifies("N30", "that do not fit together are kept as they came: %s"), (_title, parts) => {
    expect(join(...parts)).toBe(JSON.stringify(parts));
    expect(
      read(call({ name: "get", willContinue: true }), partial(...parts), answer([], "STOP")).toolCalls,
    ).toMatchObject([{ arguments: {}, rawArguments: JSON.stringify(parts) }]);
  });

  test("names of every object's properties are names", () => {
    const parts = [
      { jsonPath: "$.__proto__.polluted", boolValue: true },
      { jsonPath: "$.constructor.name", stringValue: "x" },
    ];
    expect(join(...parts)).toBe('{"__proto__":{"polluted":true},"constructor":{"name":"x"}}');
    expect(Reflect.get({}, "polluted")).toBe(undefined);
  });

  test.each([
    ["$.a.b[0]", ["a", "b", 0]],
    ["$['a.b'][\"c[0]\"]", ["a.b", "c[0]"]],
    [String.raw`$['it\'s'].ä`, ["it's", "ä"]],
    ["$", undefined],
    ["", undefined],
    ["$.", undefined],
    ["$.a[", undefined],
    ["$.a[-1]", undefined],
    ["$..a", undefined],
  ])("path %s", (path, segments) => {
    expect(parseJsonPath(path)).toEqual(segments);
  });
});

describe("end", () => {
  test.each([
    ["STOP", "stop"],
    ["MAX_TOKENS", "max_tokens"],
    ["SAFETY", "content_filter"],
    ["PROHIBITED_CONTENT", "content_filter"],
    ["MALFORMED_FUNCTION_CALL", "error"],
    ["FINISH_REASON_UNSPECIFIED", "unknown"],
    ["OTHER", "error"],
  ])("%s is %s", (raw, finishReason) => {
    expect(read(answer([{ text: "a" }], raw)).end).toMatchObject({ finishReason, rawFinishReason: raw });
  });

  test("a prompt that is blocked has no candidates", () => {
    const turn = read({ promptFeedback: { blockReason: "SAFETY" }, usageMetadata: { promptTokenCount: 3 } });
    expect(turn).toMatchObject({
      end: { finishReason: "content_filter", usage: { promptTokens: 3 } },
      report: { ended: "blockReason" },
    });
  });

  test("an error, in an array as it comes without alt=sse", () => {
    const turn = readEveryCut(
      "gemini",
      `[${JSON.stringify({ error: { code: 429, status: "RESOURCE_EXHAUSTED", message: "Quota" } }, null, 2)}\n]`,
    );
    expect(turn.report.errors).toMatchObject([{ code: "429", message: "Quota" }]);
  });
});

describe("usage", () => {
  test(verifies("N6", "thoughts and tool prompts are counted in"), () => {
    const usage = {
      promptTokenCount: 10,
      toolUsePromptTokenCount: 5,
      cachedContentTokenCount: 4,
      candidatesTokenCount: 7,
      thoughtsTokenCount: 3,
      totalTokenCount: 25,
    };
    expect(read({ usageMetadata: { trafficType: "ON_DEMAND" } }, { usageMetadata: usage }).end.usage).toEqual({
      promptTokens: 15,
      completionTokens: 10,
      totalTokens: 25,
      reasoningTokens: 3,
      cachedPromptTokens: 4,
    });
    expect(read({ usageMetadata: { trafficType: "ON_DEMAND" } }).end.usage.estimated).toBe(true);
  });
});
