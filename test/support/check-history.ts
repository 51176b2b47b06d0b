/** What clients of a cluster did and saw, compared with what is stored in the end: an empty list of problems, or what went wrong. */
import { isDeepStrictEqual } from "node:util";
import { assemble } from "@sheaf/documents";
import { reduce, type ChatResponse, type RunEvent, type StreamEvent } from "@sheaf/protocol";

/** A message that a client sent. */
interface SentMessage {
  /** No other message has it. */
  readonly text: string;
  /** Undefined: the client got no answer, so it may be stored or not. */
  readonly acknowledgedAs: string | undefined;
  /** The status of an answer that refused it, so it must never run. */
  readonly refusedWith?: number;
}

/** A response that ended, as a client got it without a stream. */
interface Answer {
  readonly responseId: string;
  readonly response: ChatResponse;
  readonly how: "POST" | "GET";
}

/** What a reader got of a response, over all its connections, in order. */
interface Reading {
  readonly responseId: string;
  readonly events: readonly StreamEvent[];
  /** It read to the end. */
  readonly isWhole: boolean;
}

export interface ClusterHistory {
  readonly sent: readonly SentMessage[];
  readonly readings: readonly Reading[];
  readonly answers?: readonly Answer[];
  /** All logs at the end. */
  readonly stored: readonly (readonly RunEvent[])[];
  /** What each tool call left behind: the same word twice is a call that ran twice. */
  readonly effects: readonly string[];
}

export function checkHistory({ sent, readings, answers = [], stored, effects }: ClusterHistory): string[] {
  const logs = new Map(stored.map((log) => [toId(log), log]));
  const counts = new Map<string, number>();
  for (const [start] of stored) {
    if (start?.type === "run_start") counts.set(start.prompt, (counts.get(start.prompt) ?? 0) + 1);
  }
  return [
    ...stored.flatMap((log) => checkLog(log)),
    ...sent.flatMap(({ text, acknowledgedAs, refusedWith }) => [
      ...(refusedWith !== undefined && counts.has(text) ? [`"${text}" got ${refusedWith}, and is stored`] : []),
      ...((counts.get(text) ?? 0) > 1 ? [`"${text}" is stored ${counts.get(text)} times`] : []),
      ...(acknowledgedAs !== undefined && !logs.has(acknowledgedAs) ? [`"${text}" was acknowledged, and is lost`] : []),
    ]),
    ...readings.flatMap((reading) => checkReading(reading, logs.get(reading.responseId) ?? [])),
    ...answers.flatMap((answer) => checkAnswer(answer, logs.get(answer.responseId) ?? [])),
    ...effects.flatMap((effect, index) => (effects.indexOf(effect) === index ? [] : [`${effect} happened twice`])),
  ];
}

function toId([start]: readonly RunEvent[]): string {
  return start?.type === "run_start" ? start.responseId : "";
}

/** Numbers without a gap, one beginning, one end, one result for each call. */
function checkLog(log: readonly RunEvent[]): string[] {
  const id = toId(log);
  const problems: string[] = [];
  const open = new Set<string>();
  for (const [index, event] of log.entries()) {
    if (event.seq !== index + 1) problems.push(`${id}: event ${event.seq} is at place ${index + 1}`);
    if ((event.type === "run_start") !== (index === 0)) problems.push(`${id}: ${event.type} is at place ${index + 1}`);
    if ((event.type === "run_end") !== (index === log.length - 1))
      problems.push(`${id}: ${event.type} at place ${index + 1} of ${log.length}`);
    if (event.type === "tool_call_start") open.add(event.callId);
    if (event.type === "tool_result" && !open.delete(event.callId))
      problems.push(`${id}: ${event.callId} has a second result`);
  }
  return [...problems, ...[...open].map((callId) => `${id}: ${callId} has no result`)];
}

/** Each event once, in order, as the stored log gives it. */
function checkReading({ responseId, events, isWhole }: Reading, log: readonly RunEvent[]): string[] {
  const stream = assemble(log);
  const problems = events.flatMap((event, index) => {
    const last = index === 0 ? 0 : events[index - 1]!.id;
    const before = [
      ...(event.id <= last ? [`${responseId}: a reader got event ${event.id} after ${last}`] : []),
      ...(event.id > last && stream.some(({ id }) => id > last && id < event.id)
        ? [`${responseId}: a reader got event ${event.id} after ${last}, and nothing between`]
        : []),
    ];
    const isStored = stream.some(
      (known) => known.id === event.id && isDeepStrictEqual(withoutBeat(known), withoutBeat(event)),
    );
    return isStored
      ? before
      : [
          ...before,
          `${responseId}: a reader got event ${event.id}, which is not stored so: ${JSON.stringify(event).slice(0, 300)}`,
        ];
  });
  const isEnded = events.at(-1)?.event === "done";
  return isWhole && !isEnded ? [...problems, `${responseId}: a reader got no end`] : problems;
}

/** Compares JSON, which has no fields of undefined. */
function checkAnswer({ response, responseId, how }: Answer, log: readonly RunEvent[]): string[] {
  const kept: unknown = JSON.parse(JSON.stringify(reduce(assemble(log))));
  return isDeepStrictEqual(response, kept)
    ? []
    : [`${responseId}: a client got by ${how} ${JSON.stringify(response)}, which is not stored so`];
}

/** What the first event says of heartbeats is the server's. */
function withoutBeat(event: StreamEvent): unknown {
  return event.event === "response_start" ? { ...event, data: { ...event.data, heartbeat_ms: 0 } } : event;
}
