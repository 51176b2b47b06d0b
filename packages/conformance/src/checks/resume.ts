/** Resumed streams (X1, X2). */
import { createReducer, createStreamDecoder, reduce, type ChatResponse, type StreamEvent } from "@sheaf/protocol";
import { atLevel } from "../check.ts";
import type { Context, Sample } from "../context.ts";
import { demandEqual, explainDifference } from "../difference.ts";
import { openEvents, readEvents, startLong } from "../run-events.ts";
import { demand, demandNone, show, Violation } from "../violation.ts";

export const resumeChecks = atLevel("resumable", [
  ["resume-replay", "X2 X1", "the events of a finished response can be read again, with the same ids",
    async (context) => {
      for (const sample of await context.samples()) {
        const again = await readEvents(context, sample.responseId, "");
        demandNone(explainMerged(sample.events, again), "X2", `prompt "${sample.name}": the replay differs`);
      }
    }],
  ["resume-at-every-id", "X2 X1", "after every id the rest follows, by Last-Event-ID and by ?after, and adds up to the same",
    checkEveryId],
  ["resume-at-every-byte", "X2 N51 N43", "a stream cut at any byte can be resumed", checkEveryByte],
  ["resume-header-wins", "X2", "an unknown place is an error, like an invalid one", checkPlaces],
  ["resume-headers", "X2", "the stream has the time to wait, and must not be cached", checkHeaders],
  ["resume-while-running", "X2 X7 N51", "readers that join, leave and return during the run all get the same events", checkRunning],
  ["resume-slow-reader", "X2 X7 N55", "a reader that stops delays no other reader and loses no event: its part and the rest are the whole",
    checkSlowReader],
]); // prettier-ignore

/** Checks that both add up to the same response with the same last id. A server may merge deltas on replay (X3). */
function explainMerged(one: readonly StreamEvent[], other: readonly StreamEvent[]): string | undefined {
  const [last, otherLast] = [one.at(-1)?.id, other.at(-1)?.id];
  if (last !== otherLast) return `the last id is ${last} and ${otherLast}`;
  const known = new Set(one.map(({ id }) => id));
  const added = other.find(({ id }) => !known.has(id));
  if (added) return `the id ${added.id} is new`;
  return explainDifference(reduce(one), reduce(other));
}

/** Reduces the events up to an id, and the events after it, to a response. */
function join(events: readonly StreamEvent[], id: number, rest: readonly StreamEvent[]): ChatResponse {
  const reducer = createReducer();
  for (const event of events) if (event.id <= id) reducer.push(event);
  for (const event of rest) reducer.push(event);
  return reducer.response;
}

/** Ids of a sample after which to resume it; the last id has no events after it. */
function toPlaces({ events }: Sample, most: number): number[] {
  const ids = events.slice(0, -1).map(({ id }) => id);
  const step = Math.max(1, Math.ceil(ids.length / most));
  return ids.filter((_, index) => index % step === 0 || index === ids.length - 1);
}

/** Longer lists of places are thinned out, so that long answers don't take minutes. */
const mostPlaces = 400;

async function checkEveryId(context: Context): Promise<void> {
  for (const sample of await context.samples()) {
    const whole = reduce(sample.events);
    for (const [index, id] of toPlaces(sample, mostPlaces).entries()) {
      const isHeader = index % 2 === 0;
      const rest = await readEvents(
        context,
        sample.responseId,
        isHeader ? "" : `?after=${id}`,
        isHeader ? id : undefined,
      );
      const subject = `prompt "${sample.name}", ${isHeader ? "Last-Event-ID:" : "?after="} ${id}`;
      demand(
        rest.length > 0 && rest.every((event) => event.id > id),
        "X2",
        `${subject}: the first id is ${rest[0]?.id}`,
      );
      demandEqual(join(sample.events, id, rest), whole, "X2", subject);
    }
  }
}

async function checkEveryByte(context: Context): Promise<void> {
  const samples = await context.samples();
  const sample = samples.reduce((best, each) => (each.events.length > best.events.length ? each : best));
  const whole = reduce(sample.events);
  const bytes = new TextEncoder().encode(sample.stream.text);
  const rests = new Map<number, readonly StreamEvent[]>();
  const places = toPlaces(sample, mostPlaces);
  let decodedTo = 0;
  const decoder = createStreamDecoder();
  const utf8 = new TextDecoder();
  const reducer = createReducer();
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    for (const event of decoder.push(utf8.decode(bytes.subarray(decodedTo, cut), { stream: true })))
      reducer.push(event);
    decodedTo = cut;
    const id = reducer.lastEventId;
    if (rests.has(id) || reducer.response.status !== "streaming" || (id > 0 && !places.includes(id))) continue;
    const rest = await readEvents(context, sample.responseId, `?after=${id}`);
    rests.set(id, rest);
    demandEqual(join(sample.events, id, rest), whole, "X2", `cut after byte ${cut}, at event ${id}`);
  }
  await checkRealCuts(context, sample, bytes.length);
}

/** Checks connections that really end in the middle. */
async function checkRealCuts(context: Context, sample: Sample, length: number): Promise<void> {
  const whole = reduce(sample.events);
  for (let part = 0; part < 10; part += 1) {
    const first = await openEvents(context, sample.responseId, "");
    await first.readBytes(Math.floor((length * part) / 10));
    first.close();
    const id = first.events.findLast(({ event }) => event !== "done")?.id ?? 0;
    const rest = await readEvents(context, sample.responseId, "", id === 0 ? undefined : id);
    demandEqual(join(first.events, id, rest), whole, "X2", `left at event ${id} and returned`);
  }
}

async function checkPlaces(context: Context): Promise<void> {
  const { responseId } = await context.sample("text");
  for (const place of ["-1", "x", "1.5", "1e3", " "]) {
    const path = `/v1/responses/${responseId}/events?after=${encodeURIComponent(place)}`;
    await context.http.expectError(400, "GET", path, { headers: { accept: "text/event-stream" } });
  }
}

async function checkHeaders(context: Context): Promise<void> {
  const { responseId, stream } = await context.sample("text");
  for (const each of [stream, await openEvents(context, responseId, "")]) {
    await each.readToEnd();
    demand(each.retry !== undefined, "X2", "the stream has no retry: field");
    const cached = each.headers.get("cache-control") ?? "";
    demand(/no-(?:store|cache)/.test(cached), "X2", `Cache-Control of the stream is ${show(cached)}`);
  }
}

async function checkSlowReader(context: Context): Promise<void> {
  const { stream, responseId } = await context.start("large");
  const slow = await openEvents(context, responseId, "");
  const whole = reduce(await stream.readToEnd());
  try {
    await slow.readToEnd();
  } catch (error) {
    // The server may close the connection of a reader that is too far behind.
    if (!(error instanceof Violation && error.clause === "N51")) throw error;
  }
  const ids = slow.events.map(({ id }) => id);
  const id = ids.at(-1) ?? 0;
  demand(
    ids.every((each, index) => each > (ids[index - 1] ?? 0)),
    "X1",
    "the ids of a slow reader do not grow",
  );
  const hasEnded = slow.events.at(-1)?.event === "done";
  const rest = hasEnded ? [] : await readEvents(context, responseId, `?after=${id}`);
  demandEqual(join(slow.events, id, rest), whole, "X2", `a slow reader that got events up to ${id}`);
}

async function checkRunning(context: Context): Promise<void> {
  const run = await startLong(context);
  const readers = [
    await openEvents(context, run.responseId, ""),
    await openEvents(context, run.responseId, "?after=2"),
  ];
  const left = await openEvents(context, run.responseId, "");
  await left.find(({ event }) => event === "document_start", "the first document");
  left.close();
  const back = await openEvents(context, run.responseId, "", left.events.at(-1)!.id);
  const events = await run.stream.readToEnd();
  const [all, some] = await Promise.all(readers.map((reader) => reader.readToEnd()));
  demandNone(explainMerged(events, all ?? []), "X7", "a second reader got something else");
  demandNone(
    explainMerged(events, [...events.filter(({ id }) => id <= 2), ...(some ?? [])]),
    "X2",
    "a reader from event 2 on",
  );
  demandEqual(join(left.events, Infinity, await back.readToEnd()), reduce(events), "X2", "a reader that returned");
}
