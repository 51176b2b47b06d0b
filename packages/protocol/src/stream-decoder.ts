/** Turns the text of an event stream into stream events. */
import { listProblems } from "./check-value.ts";
import { parseJson } from "./json-object.ts";
import * as s from "./schema.ts";
import { createSseDecoder, type SseDecoder, type SseMessage } from "./sse.ts";
import { payloadSchemas, readableStart, type StreamEvent } from "./stream-events.ts";

export interface StreamDecoder {
  push(chunk: string): StreamEvent[];
  end(): StreamEvent[];
  /** Number of messages that were skipped because their payload doesn't match their event. */
  readonly unreadable: number;
  /** Comment lines so far (X5). */
  readonly comments: number;
  /** The server's retry time; undefined until the server sends it (X2). Milliseconds. */
  readonly retry: number | undefined;
}

/**
 * Reads the events of a response from its event stream, however it is chunked (N43).
 * Returns unknown events unchanged (X14). A base stream has no ids: its events are numbered from 1.
 */
export function createStreamDecoder(): StreamDecoder {
  return new Decoder();
}

class Decoder implements StreamDecoder {
  unreadable = 0;
  readonly #sse: SseDecoder = createSseDecoder();
  #lastId = 0;

  get comments(): number {
    return this.#sse.comments;
  }

  get retry(): number | undefined {
    return this.#sse.retry;
  }

  push(chunk: string): StreamEvent[] {
    return this.#read(this.#sse.push(chunk));
  }

  end(): StreamEvent[] {
    return this.#read(this.#sse.end());
  }

  #read(messages: readonly SseMessage[]): StreamEvent[] {
    const events: StreamEvent[] = [];
    for (const { id: sent, event, data: json } of messages) {
      const id = /^\d{1,16}$/.test(sent) ? Number(sent) : this.#lastId + 1;
      const data = parseJson(json);
      if (isReadable(id, event, data)) {
        this.#lastId = id;
        events.push({ id, event, data } as StreamEvent);
      } else {
        this.unreadable += 1;
      }
    }
    return events;
  }
}

const { properties: startFields = {} } = readableStart;

/**
 * Schemas that payloads must match to be read. They are looser than `explainStreamEvent`, so that one value of a later
 * version doesn't lose a whole event (X14): any string is a mode, and the reducer checks the response of a snapshot.
 */
const readable: ReadonlyMap<string, s.JsonSchema> = new Map(
  Object.entries({
    ...payloadSchemas,
    response_start: { ...readableStart, properties: { ...startFields, mode: s.string() } },
  }),
);
const anyPayload = s.object({});

function isReadable(id: number, event: string, data: unknown): boolean {
  return (
    Number.isSafeInteger(id) && id >= 1 && listProblems(readable.get(event) ?? anyPayload, data, true).length === 0
  );
}
