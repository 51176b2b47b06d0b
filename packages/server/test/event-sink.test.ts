/** The output of one event stream, with a reader that takes its time. */
import { getEventListeners } from "node:events";
import type { ServerResponse } from "node:http";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { EventSink } from "../src/event-sink.ts";

test.each([
  ["waits for more", (sink: EventSink) => sink.drain()],
  ["gets the end", async (sink: EventSink) => sink.end()],
])(verifies("R-91", "a reader that takes nothing is cut off when it %s"), async (_, wait) => {
  const outgoing = new PassThrough({ highWaterMark: 1 });
  const sink = new EventSink(outgoing as unknown as ServerResponse, 10);
  sink.send("data: x\n\n");
  await wait(sink);
  await expect.poll(() => sink.isClosed).toBe(true);
});

test("a reader that is slow for long costs no more than one that is slow once", async () => {
  const outgoing = new PassThrough({ highWaterMark: 1 });
  const sink = new EventSink(outgoing as unknown as ServerResponse);
  const counts = new Set<number>();
  for (let index = 0; index < 5; index += 1) {
    sink.send("data: x\n\n");
    expect(sink.isFull).toBe(true);
    const drained = sink.drain();
    outgoing.read();
    await drained;
    counts.add(getEventListeners(sink.closed, "abort").length);
  }
  expect([...counts]).toEqual([0]);
});
