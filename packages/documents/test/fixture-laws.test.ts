/** The laws of the stream over everything that was recorded: each answer and each provider's body is one run. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type ChatResponse,
  createReducer,
  createStreamDecoder,
  type ModelEvent,
  reduce,
  type RunEvent,
  type StreamEvent,
  toSnapshot,
} from "@sheaf/protocol";
import { encodeNdjson, encodeSse } from "@sheaf/protocol/encode";
import { createNdjsonDecoder } from "@sheaf/protocol/ndjson";
import { toBaseEvents } from "@sheaf/protocol/base-form";
import { explainChatResponse, explainStreamEvent } from "@sheaf/protocol/validate";
import { verify } from "@sheaf/protocol/verify";
import { expect, test } from "vitest";
import { describeWithFixtures } from "../../../test/support/fixtures.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { assemble, toResponse } from "../src/assembler.ts";
import { createModelStreamDecoder, type ModelStreamFormat } from "../src/model-streams/model-stream-decoder.ts";
import { toRunEvents } from "../src/model-streams/to-run-events.ts";
import { loadRecordedBodies } from "./model-streams/recorded-bodies.ts";

/** At how many places a long stream is cut; a short one at every place. */
const maxPlaces = 60;

/** The run log of one recorded body, as `sheaf convert` makes it. */
async function toLog(format: ModelStreamFormat, chunks: Iterable<Uint8Array | string>): Promise<RunEvent[]> {
  let calls = 0;
  const decoder = createModelStreamDecoder(format, { newCallId: () => `call_${(calls += 1)}` });
  function* read(): Generator<ModelEvent> {
    for (const chunk of chunks) yield* decoder.push(chunk);
    yield* decoder.end();
  }
  let time = 1_771_842_600_000;
  const log: RunEvent[] = [];
  const options = { now: () => (time += 5), newId: () => "1", report: decoder.report };
  for await (const event of toRunEvents(read(), options)) log.push(event);
  return log;
}

/** Places to cut a stream at, from behind its first event to before its last. */
function toPlaces(events: readonly StreamEvent[]): number[] {
  const step = Math.max(1, Math.floor(events.length / maxPlaces));
  return events.flatMap((_, at) => (at > 0 && at % step === 0 ? [at] : []));
}

function checkLaws(log: readonly RunEvent[]): void {
  const events = assemble(log);
  const whole = reduce(events);
  expect(events.map(explainStreamEvent).filter(Boolean), "every event is valid").toEqual([]);
  expect(verify(events, { requireExtensions: true }), "the grammar").toBeUndefined();
  expect(explainChatResponse(whole)).toBeUndefined();
  expect(toResponse(log), "log = snapshot").toEqual(whole);
  checkJoinedDeltas(events);
  checkWire(events);
  checkReplay(events, whole);
  checkPrefixes(events);

  const base = toBaseEvents(events);
  expect(verify(base), "strip law").toBeUndefined();
  expect(reduce(base).documents.map(toOutline)).toEqual(whole.documents.map(toOutline));
}

/** N47: for what comes from the model's text the joined deltas are the content. */
function checkJoinedDeltas(events: readonly StreamEvent[]): void {
  const joined = new Map<string, string>();
  for (const { event, data } of events) {
    if (event === "document_start" && /^(text|code_block|code_reference)$/.test(data.type)) joined.set(data.id, "");
    if (event === "content_delta" && joined.has(data.documentId)) {
      joined.set(data.documentId, `${joined.get(data.documentId)}${data.delta}`);
    }
    if (event === "document_end" && joined.has(data.documentId)) {
      expect(data.finalContent).toBe(joined.get(data.documentId));
    }
  }
}

/** X15, N43: both transports give back what was sent. */
function checkWire(events: readonly StreamEvent[]): void {
  const decoder = createStreamDecoder();
  expect([...decoder.push(events.map(encodeSse).join("")), ...decoder.end()]).toEqual(events);
  const lines = createNdjsonDecoder().push(events.map(encodeNdjson).join(""));
  expect(lines.map((line) => line.ok && line.value)).toEqual(events);
}

/** N53, X1 to X3: reading again from any id, or from a snapshot, adds up to the same response. */
function checkReplay(events: readonly StreamEvent[], whole: ChatResponse): void {
  const reducer = createReducer();
  let pushed = 0;
  for (const place of toPlaces(events)) {
    for (const event of events.slice(pushed, place)) reducer.push(event);
    pushed = place;
    const id = events[place - 1]?.id ?? 0;
    const response = throughJson(toSnapshot(reducer));
    const resumed: StreamEvent[] = [{ id, event: "snapshot", data: { response } }, ...events.slice(place)];
    expect(reduce(resumed), `snapshot ${id} and tail`).toEqual(whole);
    const again = [...events.slice(0, place), ...events.slice(Math.floor(place / 2))];
    expect(reduce(again), `read again behind ${id}`).toEqual(whole);
  }
  expect(reduce(events.flatMap((event) => [event, event])), "every event twice").toEqual(whole);
}

/** N3: every prefix is a valid response that is streaming. */
function checkPrefixes(events: readonly StreamEvent[]): void {
  for (const place of toPlaces(events)) {
    const snapshot = throughJson(reduce(events.slice(0, place)));
    expect(explainChatResponse(snapshot), `the first ${place} events`).toBeUndefined();
    expect(snapshot.status).toBe("streaming");
  }
}

function toOutline({ id, type, sequence, content }: ChatResponse["documents"][number]): unknown {
  return { id, type, sequence, content };
}

function throughJson<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}

const clauses = ["N1", "N3", "N44", "N47", "N48", "N53", "N54", "X1", "X13", "X15"];

describeWithFixtures("providers", (folder) => {
  test.each(loadRecordedBodies(folder).bodies)(verifies(clauses, "$row.file"), async ({ format, body }) => {
    const log = await toLog(format, [body]);
    expect(log.at(-1)?.type).toBe("run_end");
    checkLaws(log);
  });
});

describeWithFixtures("markdown", (folder) => {
  const answers = readdirSync(join(folder, "answers"));
  test.each(answers)(verifies([...clauses, "N25"], "%s"), async (name) => {
    const text = readFileSync(join(folder, "answers", name), "utf8");
    const log = await toLog("markdown", text.match(/[^]{1,7}/g) ?? []);
    checkLaws(log);
    const whole = toResponse(await toLog("markdown", [text]));
    expect(toResponse(log).documents).toEqual(whole.documents);
  });
});
