import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { readEveryCut, readPayloads } from "./read-every-cut.ts";

const readOllama = (...payloads: readonly object[]) =>
  readEveryCut("ollama-chat", payloads.map((payload) => `${JSON.stringify(payload)}\r\n`).join(""));

test("Ollama: generate, an error, a cut", () => {
  const turn = readOllama(
    { model: "m", thinking: "hm", response: "" },
    { response: "a", done: false },
    { response: "", done: true, done_reason: "length" },
  );
  expect(turn).toMatchObject({
    text: "a",
    reasoning: "hm",
    end: { finishReason: "max_tokens" },
    report: { ended: "done", model: "m" },
  });
  expect(turn.end.usage.estimated).toBe(true);
  expect(readOllama({ error: "model not found" })).toMatchObject({
    end: { finishReason: "error" },
    report: { errors: [{ message: "model not found" }] },
  });
  expect(readOllama({ message: { content: "a" }, done: false })).toMatchObject({ text: "a", report: { ended: null } });
});

test(verifies("N30", "Ollama: calls come whole, with text for arguments too"), () => {
  const turn = readOllama(
    {
      message: {
        content: "",
        tool_calls: [{ function: { name: "a", arguments: { x: 1 } } }, { function: { name: "b", arguments: "{'x'" } }],
      },
    },
    { done: true, done_reason: "stop" },
  );
  expect(turn.toolCalls).toMatchObject([{ arguments: { x: 1 } }, { arguments: {}, rawArguments: "{'x'" }]);
  expect(turn.end.finishReason).toBe("tool_calls");
});

test("Cohere: an error at the end, and a call without arguments", () => {
  const message = { tool_calls: { id: "t", function: { name: "now", arguments: "" } } };
  const turn = readPayloads("cohere-chat", [
    { type: "tool-call-start", index: 0, delta: { message } },
    { type: "tool-call-end", index: 0 },
    { type: "tool-call-delta", index: 7, delta: { message } },
    { type: "message-end", delta: { finish_reason: "ERROR", error: "overloaded" } },
  ]);
  expect(turn.toolCalls).toMatchObject([{ toolName: "now", text: "", arguments: {} }]);
  expect(turn).toMatchObject({
    end: { finishReason: "error", rawFinishReason: "ERROR" },
    report: { errors: [{ message: "overloaded" }] },
  });
});
