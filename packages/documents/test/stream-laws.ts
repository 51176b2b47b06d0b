/** The laws that the stream of every run keeps. */
import {
  type ChatResponse,
  createReducer,
  createStreamDecoder,
  reduce,
  type RunEvent,
  type StreamEvent,
  toSnapshot,
} from "@sheaf/protocol";
import { baseEventNames, toBaseEvents } from "@sheaf/protocol/base-form";
import { encodeNdjson, encodeSse } from "@sheaf/protocol/encode";
import { createNdjsonDecoder } from "@sheaf/protocol/ndjson";
import { explainChatResponse, explainStreamEvent } from "@sheaf/protocol/validate";
import { verify } from "@sheaf/protocol/verify";
import { expect } from "vitest";
import { assemble, createAssembler, toResponse } from "../src/assembler.ts";

/** The clauses that the laws prove. */
export const clauses = ["N1", "N3", "N44", "N47", "N48", "N53", "N54", "X1", "X3", "X13", "X15"];

/** At how many places a long stream is cut; a short one at every place. */
const maxPlaces = 60;

/** Places to cut a stream at, from behind its first event to before its last. */
function toPlaces(events: readonly StreamEvent[]): number[] {
  const step = Math.max(1, Math.floor(events.length / maxPlaces));
  return events.flatMap((_, at) => (at > 0 && at % step === 0 ? [at] : []));
}

/** Checks every law on the stream of one run, and returns its response. */
export function checkLaws(log: readonly RunEvent[]): ChatResponse {
  const events = assemble(log);
  const assembler = createAssembler();
  expect(
    log.flatMap((event) => assembler.push(event)),
    "event by event",
  ).toEqual(events);
  const whole = reduce(events);
  expect(whole.documents.filter(({ status }) => status !== undefined)).toEqual([]);
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
  expect(base.filter(({ event }) => !baseEventNames.some((name) => name === event))).toEqual([]);
  expect(reduce(base).documents.map(toOutline)).toEqual(whole.documents.map(toOutline));
  return whole;
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
    expect(verify(resumed, { requireExtensions: true })).toBeUndefined();
    const again = [...events.slice(0, place), ...events.slice(Math.floor(place / 2))];
    expect(reduce(again), `read again behind ${id}`).toEqual(whole);
  }
  expect(reduce(events.flatMap((event) => [event, event])), "every event twice").toEqual(whole);
}

/** N3: every prefix is a valid response that is streaming. */
function checkPrefixes(events: readonly StreamEvent[]): void {
  for (const place of toPlaces(events)) {
    const reducer = createReducer();
    for (const event of events.slice(0, place)) reducer.push(event);
    const snapshot = throughJson(toSnapshot(reducer));
    expect(explainChatResponse(snapshot), `the first ${place} events`).toBeUndefined();
    expect([snapshot.status, snapshot.metadata.lastEventId]).toEqual(["streaming", events[place - 1]?.id]);
    expect(reducer.ignored).toBe(0);
  }
}

function toOutline({ id, type, sequence, content }: ChatResponse["documents"][number]): unknown {
  return { id, type, sequence, content };
}

function throughJson<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}
