/** The body of a provider's answer, decoded once more and compared with the recorded result. */
import { createModelStreamDecoder, modelStreamFormats } from "@sheaf/documents/model-streams";
import type { ModelEvent } from "@sheaf/protocol";
import { toBytes, type BodyRecord } from "./cassette.ts";
import { shortenValue } from "./tape.ts";

/** A group of events as the decoder of today gives it. */
interface DecodedGroup {
  readonly events: readonly ModelEvent[];
  /** What is different from the recorded group, as words; undefined: nothing. */
  readonly difference: string | undefined;
}

export interface ReplayedBody {
  push(bytes: Extract<BodyRecord, { type: "provider_bytes" }>): void;
  /** Decodes the bytes since the last group, cut as they came. */
  decode(recorded: readonly ModelEvent[]): DecodedGroup;
}

/** Undefined for a format that this Sheaf does not decode: then the recorded events count. */
export function createReplayedBody({
  format,
  origin,
}: Extract<BodyRecord, { type: "provider_response" }>): ReplayedBody | undefined {
  if (!modelStreamFormats.includes(format)) return undefined;
  let callIds: string[] = [];
  let waiting: Uint8Array[] = [];
  let decodedCount = 0;
  const decoder = createModelStreamDecoder(format, {
    newCallId: () => callIds.shift() ?? "call_of_no_record",
    origin,
    endsWhereBroken: true,
  });

  return {
    push: (record) => void waiting.push(toBytes(record)),
    decode(recorded) {
      callIds = recorded.flatMap((event) => (event.type === "tool_call_start" ? [event.callId] : []));
      const events = waiting.flatMap((chunk) => decoder.push(chunk));
      waiting = [];
      const ends = recorded.some(({ type }) => type === "turn_end");
      if (ends) events.push(...decoder.end().map((event) => toRecordedEnd(event, recorded.at(-1))));
      const difference = findDifference(recorded, events, decodedCount);
      decodedCount += events.length;
      return { events, difference };
    },
  };
}

/** That an answer failed is found out after the decoder: by its connection, its marker, its error object. */
function toRecordedEnd(event: ModelEvent, recorded: ModelEvent | undefined): ModelEvent {
  const hasFailed = recorded?.type === "turn_end" && recorded.finishReason === "error";
  return event.type === "turn_end" && hasFailed ? { ...event, finishReason: "error" } : event;
}

/** The first event that differs, by its number within the answer. */
function findDifference(
  recorded: readonly ModelEvent[],
  decoded: readonly ModelEvent[],
  before: number,
): string | undefined {
  const place = Array.from({ length: Math.max(recorded.length, decoded.length) }, (_, index) => index).find(
    (index) => JSON.stringify(recorded[index]) !== JSON.stringify(decoded[index]),
  );
  if (place === undefined) return undefined;
  return `event ${before + place + 1} of the answer is decoded to ${toText(decoded[place])}, not ${toText(recorded[place])}`;
}

function toText(event: ModelEvent | undefined): string {
  return event === undefined ? "nothing" : shortenValue(JSON.stringify(event));
}
