/** From the text of an event stream to stream events. */
import { payloadPatterns } from "./event-patterns.ts";
import { parseJson } from "./parse-json.ts";
import { matches } from "./pattern.ts";
import { createSseDecoder, type SseDecoder, type SseMessage } from "./sse.ts";
import type { StreamEvent } from "./stream-events.ts";

export interface StreamDecoder {
  push(chunk: string): StreamEvent[];
  end(): StreamEvent[];
  /** Messages whose payload is not what their event has; they are left out. */
  readonly unreadable: number;
  /** Comment lines so far (X5). */
  readonly comments: number;
  /** Milliseconds, once the server has said so (X2). */
  readonly retry: number | undefined;
}

/**
 * Reads the events of a response from its event stream, whatever the chunks (N43).
 * Unknown events are given as they are (X14). A base stream has no ids: its events are numbered from 1.
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

/**
 * What a reader relies on. The response of a snapshot is the reducer's to read: one value of a later version in one of
 * its documents must not cost the whole of it (X14). `explainStreamEvent` looks closer.
 */
function isReadable(id: number, event: string, data: unknown): boolean {
  return matches(id, "place") && matches(data, payloadPatterns.get(event) ?? {});
}
