import { describe, expect, test } from "vitest";
import type { ModelEvent } from "@sheaf/protocol";
import { fromModelStream } from "../../src/model-streams/from-model-stream.ts";
import { formatEventStream } from "./read-every-cut.ts";

const body = new TextEncoder().encode(
  formatEventStream([
    { choices: [{ delta: { content: "ä" } }] },
    { choices: [{ delta: { tool_calls: [{ index: 0, id: "x", function: { name: "now", arguments: "{}" } }] } }] },
    { choices: [{ delta: {}, finish_reason: "stop" }] },
    "[DONE]",
  ]),
);

async function collect(events: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const collected: ModelEvent[] = [];
  for await (const event of events) collected.push(event);
  return collected;
}

/** A connection that is lost. */
async function* breakOff(): AsyncGenerator<string> {
  yield "text";
  await Promise.reject(new Error("connection lost"));
}

describe("fromModelStream", () => {
  const types = ["text_delta", "tool_call_start", "tool_call_arguments_delta", "tool_call_arguments", "turn_end"];

  test("takes chunks that are there", async () => {
    const events = await collect(
      fromModelStream("openai-chat", [body.subarray(0, 50), body.subarray(50)], { newCallId: () => "call_7" }),
    );
    expect(events.map((event) => event.type)).toEqual(types);
    expect(events[1]).toMatchObject({ callId: "call_7" });
  });

  test("takes chunks that come, for instance the body of a response", async () => {
    const events = await collect(fromModelStream("openai-chat", new Response(body).body ?? []));
    expect(events.map((event) => event.type)).toEqual(types);
  });

  test("gives events before the next chunk is asked for", async () => {
    const asked: number[] = [];
    function* chunks(): Generator<string> {
      for (const number of [1, 2]) {
        asked.push(number);
        yield `text ${number}`;
      }
    }
    const events = fromModelStream("markdown", chunks());
    expect((await events.next()).value).toEqual({ type: "text_delta", text: "text 1" });
    expect(asked).toEqual([1]);
  });

  test("throws what the chunks throw, behind the events before it", async () => {
    const events = fromModelStream("markdown", breakOff());
    expect((await events.next()).value).toEqual({ type: "text_delta", text: "text" });
    await expect(events.next()).rejects.toThrow("connection lost");
  });
});
