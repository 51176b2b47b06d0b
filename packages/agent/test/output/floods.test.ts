/** Millions of tiny deltas: a projection keeps little more than their characters. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { RunEvent } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { createProjection } from "../../src/output/create-projection.ts";
import { createReferenceChecker } from "../../src/run/model-turn.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { runStart, toLog } from "./log.ts";

const count = 1_000_000;

/** Bytes. A rope of so many pieces takes 32 MB. */
const bound = 16_000_000;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** What is in use. Bytes. */
const readHeap = (): number => {
  collect();
  return process.memoryUsage().heapUsed;
};

const options = { locale: "en", includeThinking: false } as const;
const cursor = { ...options, profile: "cursor-2026" } as const;

test.each([
  ["stream-json", " ", () => createProjection("stream-json", options)],
  ["stream-json", "a", () => createProjection("stream-json", options)],
  ["json", "a", () => createProjection("json", options)],
  ["text", "a", () => createProjection("text", options)],
  ["stream-json of cursor-2026", "a", () => createProjection("stream-json", cursor)],
  ["its deltas", " ", () => createProjection("stream-json", { ...cursor, partial: "deltas" })],
] as const)(verifies("R-22", "%s keeps no object for each delta %j"), (_name, delta, create) => {
  const projection = create();
  const [start, event] = toLog(runStart, { type: "text_delta", text: delta }) as [RunEvent, RunEvent];
  projection.push(start);
  const before = readHeap();
  for (let index = 0; index < count; index += 1) projection.push(event);
  expect(readHeap() - before).toBeLessThan(bound);
  // It is still there: the next word brings all of it.
  const rest = [{ type: "text_delta", text: "end" }, { type: "turn_end" }, { type: "run_end", reason: "end_turn" }];
  const lines = rest.flatMap((body) => projection.push({ ...turnEndFields, ...body, seq: 9, time: 1 } as RunEvent));
  expect(lines.join("").length).toBeGreaterThan(count);
});

const turnEndFields = {
  usage: { promptTokens: 0, completionTokens: 0, totalTokens: 0 },
  modelMs: 0,
  finishReason: "stop",
};

test(verifies("R-22", "a quote of lines of code is kept without an object for each delta"), async () => {
  let length = 0;
  const checker = createReferenceChecker(({ content }) => {
    length = content.length;
    return Promise.resolve(undefined);
  });
  await checker.check([{ type: "text_delta", text: "```1:2:a.ts\n" }]);
  const events = [{ type: "text_delta", text: "a" }] as const;
  const before = readHeap();
  for (let index = 0; index < count; index += 1) void checker.check(events);
  expect(readHeap() - before).toBeLessThan(bound);
  await checker.check([{ type: "text_delta", text: "\n```\n" }]);
  expect(length).toBe(count);
});
