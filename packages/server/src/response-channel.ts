/** A running response for all its readers: assembled once, encoded once (X1, X7). */
import { createAssembler, type Assembler } from "@sheaf/documents";
import { createReducer, toSnapshot, type ChatResponse, type Reducer, type RunEvent } from "@sheaf/protocol";
import { encodeSse } from "@sheaf/protocol/encode";
import { createEventMask } from "@sheaf/agent/output/event-mask";
import type { LiveChannel } from "@sheaf/agent/run/conversations/response-runner";
import type { TextMask } from "@sheaf/base/text-mask";
import { toFrames, type Frames } from "./event-sink.ts";

interface ChannelReader {
  /** True if the reader wants `reasoning_delta` events (N14). */
  readonly includesReasoning: boolean;
  /** Takes the frames of one group; must not throw or wait. `events`: the log events behind the frames. */
  take(frames: Frames | undefined, events: readonly RunEvent[]): void;
  /** Called when the response no longer runs here. */
  end(): void;
}

/** Settings of the documents' event stream. */
export interface WireOptions {
  /** Interval that the stream announces to clients (X5). */
  readonly heartbeatMs: number;
  /** Masks the secrets in every form (S-256). */
  readonly mask: TextMask;
}

/** Assembles documents the same way for every reader and every replay, so that their ids are the same. */
export function createWireAssembler({ heartbeatMs, mask: textMask }: WireOptions): Assembler {
  const assembler = createAssembler({ heartbeatMs, includeReasoning: true });
  const mask = createEventMask({ mask: textMask, keepsQuestions: true });
  return { push: (event) => mask(event).flatMap((shown) => assembler.push(shown)) };
}

/** A response with its readers. A new channel has no readers. */
export class ResponseChannel implements LiveChannel {
  /** Number of the last event of the log that readers have got. */
  lastSeq = 0;
  readonly #assembler: Assembler;
  readonly #reducer: Reducer = createReducer();
  readonly #readers = new Set<ChannelReader>();

  constructor(options: WireOptions) {
    this.#assembler = createWireAssembler(options);
  }

  /** The response so far (N3). */
  get snapshot(): ChatResponse {
    return toSnapshot(this.#reducer);
  }

  /** Id of the last event of the stream that readers have got. */
  get lastId(): number {
    return this.#reducer.lastEventId;
  }

  push(events: readonly RunEvent[]): void {
    const isHeard = this.#readers.size > 0;
    let all = "";
    let plain = "";
    let hasReasoning = false;
    for (const event of events) {
      this.lastSeq = event.seq;
      for (const streamEvent of this.#assembler.push(event)) {
        this.#reducer.push(streamEvent);
        if (!isHeard) continue;
        const frame = encodeSse(streamEvent);
        all += frame;
        if (streamEvent.event === "reasoning_delta") hasReasoning = true;
        else plain += frame;
      }
    }
    if (isHeard) this.#send(all, hasReasoning ? plain : undefined, events);
  }

  /** Adds a reader, which gets every event from now on. Call it in the tick in which the reader has seen `lastSeq`. */
  join(reader: ChannelReader): void {
    this.#readers.add(reader);
  }

  leave(reader: ChannelReader): void {
    this.#readers.delete(reader);
  }

  close(): void {
    for (const reader of this.#readers) reader.end();
    this.#readers.clear();
  }

  /** Sends frames to the readers. `plain`: the frames without reasoning, if they differ. */
  #send(all: string, plain: string | undefined, events: readonly RunEvent[]): void {
    const allFrames = toFrames(all);
    const plainFrames = plain === undefined ? allFrames : toFrames(plain);
    for (const reader of this.#readers) reader.take(reader.includesReasoning ? allFrames : plainFrames, events);
  }
}
