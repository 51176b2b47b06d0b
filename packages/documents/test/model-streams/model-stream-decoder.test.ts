import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { createModelStreamDecoder, type ModelStreamFormat } from "../../src/model-streams/model-stream-decoder.ts";
import { formatEventStream, readEveryCut, readPayloads } from "./read-every-cut.ts";
import { readChunks } from "./read-turn.ts";

const fixtures = join(import.meta.dirname, "../fixtures/model-streams");

const reasoning = "Erst lesen — 先に読む.";
const text = 'Ich lese **zwei** Dateien 😀\n\n```ts\nconst naïve = "é";\n```\n';
const toolCalls = [
  { callId: "call_001", toolName: "read_file", arguments: { target_file: "src/naïve.ts" } },
  { callId: "call_002", toolName: "grep_search", arguments: { query: "日本", path: "." } },
];

/** One answer as each protocol puts it on the wire; what a protocol does not tell is left out. */
const samples: readonly {
  readonly file: string;
  readonly format: ModelStreamFormat;
  readonly ended: string;
  readonly finish: string;
  readonly usage?: object;
  readonly ids?: readonly unknown[];
  readonly responseId?: string | null;
  readonly signatures?: readonly unknown[];
}[] = [
  { file: "openai-chat.sse", format: "openai-chat", ended: "[DONE]", finish: "tool_calls", responseId: "chatcmpl-1" },
  {
    file: "openai-responses.sse",
    format: "openai-responses",
    ended: "response.completed",
    finish: "completed",
    responseId: "resp_1",
    signatures: [{ value: "c2lnbmF0dXJl" }],
  },
  {
    file: "anthropic-messages.sse",
    format: "anthropic-messages",
    ended: "message_stop",
    finish: "tool_use",
    usage: { cacheWriteTokens: 0 },
    responseId: "msg_1",
    signatures: [{ value: "c2lnbmF0dXJl" }],
  },
  {
    file: "gemini.sse",
    format: "gemini",
    ended: "finishReason",
    finish: "STOP",
    responseId: "g-1",
    signatures: [{ callId: "call_001", value: "c2lnbmF0dXJl" }],
  },
  {
    file: "gemini.json",
    format: "gemini",
    ended: "finishReason",
    finish: "STOP",
    responseId: "g-1",
    signatures: [{ callId: "call_001", value: "c2lnbmF0dXJl" }],
  },
  {
    file: "ollama-chat.ndjson",
    format: "ollama-chat",
    ended: "done",
    finish: "stop",
    usage: { reasoningTokens: undefined, cachedPromptTokens: undefined },
    responseId: null,
  },
  {
    file: "cohere-chat.sse",
    format: "cohere-chat",
    ended: "message-end + [DONE]",
    finish: "TOOL_CALL",
    usage: { reasoningTokens: undefined },
    responseId: "co-1",
  },
];

describe("one answer on every wire", () => {
  test.each(samples)(verifies(["N6", "N25", "N29"], "$file"), (sample) => {
    const turn = readEveryCut(sample.format, readFileSync(join(fixtures, sample.file)));
    expect(turn.reasoning).toBe(reasoning);
    expect(turn.text).toBe(text);
    expect(turn.toolCalls).toMatchObject(toolCalls);
    expect(turn.toolCalls.map((toolCall) => toolCall.providerCallId)).toEqual(["p1", "p2"]);
    expect(turn.toolCalls.map((toolCall) => JSON.parse(toolCall.text))).toEqual(
      toolCalls.map((call) => call.arguments),
    );
    expect(turn.end).toEqual({
      type: "turn_end",
      finishReason: "tool_calls",
      rawFinishReason: sample.finish,
      usage: {
        promptTokens: 120,
        completionTokens: 45,
        totalTokens: 165,
        reasoningTokens: 12,
        cachedPromptTokens: 100,
        ...sample.usage,
      },
      modelMs: 0,
    });
    expect(turn.report).toMatchObject({
      ended: sample.ended,
      finish: sample.finish,
      responseId: sample.responseId,
      refusal: "",
      errors: [],
      serverItems: [],
      signatures: sample.signatures ?? [],
      unparsable: 0,
      restarts: 0,
    });
  });

  test(verifies("N25", "markdown.md"), () => {
    const bytes = readFileSync(join(fixtures, "markdown.md"));
    for (let offset = 0; offset <= bytes.length; offset += 1) {
      const turn = readChunks("markdown", [bytes.subarray(0, offset), bytes.subarray(offset)]);
      expect(turn.text).toBe(text);
      expect(turn.end).toMatchObject({ finishReason: "stop", rawFinishReason: "stop", usage: { estimated: true } });
      expect(turn.report.ended).toBe("end of body");
    }
  });
});

const chunk = (content: string) => formatEventStream([{ choices: [{ delta: { content } }] }]);
const line = (content: string) => JSON.stringify({ message: { content } });
const delta = (half: string) => `{"choices":[{"delta":{"content":"${half}"}}]}`;

describe("createModelStreamDecoder", () => {
  test("gives with each read what the read brought", () => {
    const decoder = createModelStreamDecoder("openai-chat");
    expect(decoder.push(chunk("a") + chunk("b"))).toEqual([
      { type: "text_delta", text: "a" },
      { type: "text_delta", text: "b" },
    ]);
    expect(decoder.push(chunk("c").slice(0, 20))).toEqual([]);
    expect(decoder.push(chunk("c").slice(20))).toEqual([{ type: "text_delta", text: "c" }]);
  });

  test("a turn ends once, and nothing comes behind the end", () => {
    const decoder = createModelStreamDecoder("openai-chat");
    expect(decoder.end().map((event) => event.type)).toEqual(["turn_end"]);
    const late = {
      tool_calls: [{ index: 0, id: "late", function: { name: "late", arguments: "{}" } }],
      content: "late",
    };
    expect(decoder.push(formatEventStream([{ choices: [{ delta: late }] }]))).toEqual([]);
    expect(decoder.end()).toEqual([]);
  });

  test(verifies("N29", "call ids come from newCallId"), () => {
    const ids = ["call_x", "call_y"];
    const decoder = createModelStreamDecoder("gemini", { newCallId: () => ids.shift() ?? "" });
    const parts = [{ functionCall: { name: "a", args: {} } }, { functionCall: { name: "a", args: {} } }];
    const events = decoder.push(formatEventStream([{ candidates: [{ content: { parts } }] }]));
    expect(events.filter((event) => event.type === "tool_call_start").map((event) => event.callId)).toEqual([
      "call_x",
      "call_y",
    ]);
  });

  test(verifies("N6", "without usage the counts are 0 and estimated"), () => {
    const turn = readPayloads("openai-chat", [{ choices: [{ delta: { content: "a" } }], usage: null }]);
    expect(turn.end.usage).toEqual({ promptTokens: 0, completionTokens: 0, totalTokens: 0, estimated: true });
    expect(turn.report.usage).toBe(null);
  });

  test("payloads that are no JSON object are counted and skipped", () => {
    const good = { choices: [{ delta: { content: "a" } }] };
    const turn = readPayloads("openai-chat", ["{oops}", good, "[1]", "null", "1", '"text"', "", good, "[DONE]"]);
    expect(turn.text).toBe("aa");
    expect(turn.report).toMatchObject({ payloads: 2, unparsable: 5, broken: 1, ended: "[DONE]" });
  });

  test("what comes behind a broken payload is ignored where that was asked for", () => {
    const decoder = createModelStreamDecoder("openai-chat", { endsWhereBroken: true });
    const good = 'data: {"choices":[{"delta":{"content":"a"}}]}\n\n';
    const events = decoder.push(`${good}data: ping\n\n${good}data: {"cho\n\n${good}data: [DONE]\n\n`);
    expect(events.map((event) => event.type === "text_delta" && event.text)).toEqual(["a", "a"]);
    expect(decoder.report).toMatchObject({ broken: 1, ended: null });
  });

  test("behind the reason of the end nothing that is broken is missing", () => {
    const end = { choices: [{ delta: {}, finish_reason: "stop" }] };
    expect(readPayloads("openai-chat", [end, "{oops}", "[DONE]"]).report).toMatchObject({ unparsable: 1, broken: 0 });
  });

  test("an unfinished last payload counts if it parses, without its line end too", () => {
    const body = formatEventStream([{ choices: [{ delta: { content: "a" } }] }]).trimEnd();
    expect(readEveryCut("openai-chat", body)).toMatchObject({ text: "a", report: { unparsable: 0, ended: null } });
    expect(readEveryCut("openai-chat", body.slice(0, -3))).toMatchObject({ text: "", report: { unparsable: 1 } });
  });

  test("a body without any end is an unknown end", () => {
    const turn = readPayloads("anthropic-messages", [
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hal" } },
    ]);
    expect(turn.report).toMatchObject({ ended: null, finish: null });
    expect(turn.end).toMatchObject({ finishReason: "unknown", rawFinishReason: "" });
  });

  test("a body that is an error in JSON, not a stream", () => {
    const error = { message: "Überlast", type: "overloaded_error", code: 529 };
    const turn = readEveryCut(
      "anthropic-messages",
      `\uFEFF \r\n${JSON.stringify({ type: "error", error }, null, 2)}\n`,
    );
    expect(turn.report.errors).toEqual([{ code: "529", type: "overloaded_error", message: "Überlast", raw: error }]);
    expect(turn.end.finishReason).toBe("error");
  });

  test("an error may be a text, and an error without words is none", () => {
    const turn = readPayloads("openai-chat", [
      { code: "bad_key", error: "Incorrect API key" },
      { error: "" },
      { error: null },
    ]);
    expect(turn.report.errors).toMatchObject([{ code: "bad_key", message: "Incorrect API key" }]);
  });

  test("a line that breaks off in a JSON body takes no other with it", () => {
    const turn = readEveryCut(
      "ollama-chat",
      `${line('a{\\"b')}\n${line("broken").slice(0, 24)}\n${line("c")}\n${line("cut").slice(0, -2)}`,
    );
    expect(turn.text).toBe('a{\\"bc');
    expect(turn.report).toMatchObject({ payloads: 2, unparsable: 2 });
  });

  test(verifies("N25", "a character that two deltas share is never cut"), () => {
    const turn = readPayloads("openai-chat", [delta("a\\ud83d"), delta("\\ude00b"), delta("\\ud83d")]);
    expect(turn.events).toMatchObject([
      { type: "text_delta", text: "a" },
      { type: "text_delta", text: "😀b" },
      { type: "text_delta", text: "\ufffd" },
      { type: "turn_end" },
    ]);
    const halves = readChunks("markdown", "x😀".split(""));
    expect(halves.events.map((event) => event.type === "text_delta" && event.text)).toEqual(["x", "😀", false]);
  });

  test("bytes that are no UTF-8 become U+FFFD", () => {
    const body = Buffer.concat([
      Buffer.from('data: {"choices":[{"delta":{"content":"a'),
      Buffer.from([0xff, 0xe2, 0x82]),
      Buffer.from('b"}}]}\n\n'),
    ]);
    expect(readEveryCut("openai-chat", body).text).toBe("a\ufffd\ufffdb");
  });

  test("strings and bytes may be mixed", () => {
    const body = formatEventStream([{ choices: [{ delta: { content: "é" } }] }]);
    expect(readChunks("openai-chat", [body.slice(0, 10), Buffer.from(body.slice(10))]).text).toBe("é");
  });
});
