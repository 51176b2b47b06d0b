/** The body of a provider's answer, decoded again and compared with the recorded events. */
import { createModelStreamDecoder, modelStreamFormats } from "@sheaf/documents/model-streams";
import type { ModelEvent } from "@sheaf/protocol";
import { toBytes, type BodyRecord } from "./cassette.ts";
import { shortenValue } from "./tape.ts";

export interface ReplayedBody {
  push(bytes: Extract<BodyRecord, { type: "provider_bytes" }>): void;
  /** Decodes the bytes since the last group, in their original chunks. `difference` from the recorded group: a message. */
  decode(recorded: readonly ModelEvent[]): {
    readonly events: readonly ModelEvent[];
    readonly difference: string | undefined;
  };
}

/** Undefined for a format that this version does not decode: the recorded events are used then. */
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

/**
 * The decoder does not see that an answer failed: the connection, end marker or error object says so. Nor does it see
 * what was said of the request, and which model it went to.
 */
function toRecordedEnd(event: ModelEvent, recorded: ModelEvent | undefined): ModelEvent {
  if (event.type !== "turn_end" || recorded?.type !== "turn_end") return event;
  const { finishReason, notice, model } = recorded;
  return {
    ...event,
    ...(finishReason === "error" && { finishReason }),
    ...(notice !== undefined && { notice }),
    ...(model && { model }),
  };
}

/** Describes the first event that differs, by its number within the answer. */
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
