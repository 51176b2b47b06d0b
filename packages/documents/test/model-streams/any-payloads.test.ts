import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import { chooseRuns } from "../../../../test/support/soak.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { ModelStreamFormat } from "../../src/model-streams/model-stream-decoder.ts";
import { cutAtRandom, cutEverywhere } from "./cut-body.ts";
import { formatEventStream } from "./read-every-cut.ts";
import { formatTurn, readChunks } from "./read-turn.ts";

const formats = [
  "openai-chat",
  "openai-responses",
  "anthropic-messages",
  "gemini",
  "ollama-chat",
  "cohere-chat",
] as const satisfies readonly ModelStreamFormat[];

/** Names that the protocols know, so that payloads of any shape meet the code that reads them. */
const knownNames = [
  "type index id choices delta message content tool_calls function name arguments finish_reason usage error code text",
  "thinking reasoning refusal item output_index item_id call_id response output part content_block partial_json input",
  "stop_reason candidates parts functionCall args partialArgs jsonPath stringValue willContinue done __proto__",
  "constructor prompt_tokens completion_tokens_details reasoning_tokens",
];
const knownWords = [
  "message_start content_block_start content_block_delta content_block_stop message_delta tool_use input_json_delta",
  "text_delta server_tool_use response.output_item.added response.output_item.done response.output_text.delta",
  "response.function_call_arguments.delta response.custom_tool_call_input.delta response.completed function_call",
  "custom_tool_call message error tool-call-start message-end $.a[0].b $.__proto__.x stop STOP __proto__",
  '{ } {"a":1} \ud83d \ude00 ',
];
const names = fc.constantFrom(...knownNames.join(" ").split(" "));
const words = fc.constantFrom(...knownWords.join(" ").split(" "));
const { payload } = fc.letrec<{ payload: unknown; value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    words,
    fc.integer({ min: -1, max: 3 }),
    fc.boolean(),
    fc.constant(null),
    tie("payload"),
    fc.array(tie("payload"), { maxLength: 3 }),
  ),
  payload: fc.dictionary(names, tie("value"), { maxKeys: 6, noNullPrototype: true }),
}));

test.each(formats)(verifies(["C8", "N25"], "%s: whatever the payloads hold, the events keep their order"), (format) => {
  fc.assert(
    fc.property(fc.array(payload, { maxLength: 6 }), fc.integer(), (payloads, seed) => {
      const body = new TextEncoder().encode(formatEventStream(payloads));
      // Reading checks that each call has a start, then deltas, then one end, and that the turn ends once and last.
      const turn = readChunks(format, [body]);
      expect(new Set(turn.toolCalls.map((toolCall) => toolCall.callId)).size).toBe(turn.toolCalls.length);
      expect(turn.report.payloads).toBe(payloads.length);
      expect(turn.end.usage.totalTokens).toBe(turn.end.usage.promptTokens + turn.end.usage.completionTokens);
      expect(formatTurn(readChunks(format, cutAtRandom(body, seed)))).toBe(formatTurn(turn));
    }),
    { numRuns: chooseRuns(300), seed: 1 },
  );
  expect(Object.keys(Object.prototype)).toEqual([]);
});

test.each(formats)(verifies("N25", "%s: bytes that are no answer at all"), (format) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.integer(), (body, seed) => {
      expect(formatTurn(readChunks(format, cutAtRandom(body, seed)))).toBe(formatTurn(readChunks(format, [body])));
    }),
    { numRuns: chooseRuns(100), seed: 1 },
  );
});

test("every payload is parsed once, however the body is cut", () => {
  const parse = vi.spyOn(JSON, "parse");
  const payloads = Array.from({ length: 50 }, (_, index) => ({ choices: [{ delta: { content: `${index}` } }] }));
  readChunks("openai-chat", cutEverywhere(new TextEncoder().encode(formatEventStream(payloads))));
  expect(parse).toHaveBeenCalledTimes(payloads.length);
  parse.mockRestore();
});
