/** The raw way out of one event stream, with back-pressure (N55, R-08). */
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { securityHeaders } from "./security-headers.ts";
import { encodeHeartbeat, encodeRetry } from "@sheaf/protocol";

/** What may wait for a reader before it is disconnected; it goes on by the last id. Bytes. */
const MAX_UNSENT = 1024 * 1024;

/** How long a reader should wait before it connects again. Milliseconds (X2). */
const RETRY_MS = 1000;

/** Where the events of one reader go. */
export interface EventSink {
  /** Writes at once. Closes the connection when too much waits for the reader. */
  send(frames: Buffer | string): void;
  /** Resolves when nothing waits for the reader any more, or when it is gone. */
  drain(): Promise<void>;
  /** Shows that the connection lives (X5). */
  beat(): void;
  /** Ends the stream behind its last event. */
  end(): void;
  /** Breaks the stream off, so that the reader asks again (N51). */
  cut(): void;
  /** The reader is gone, or was disconnected. */
  readonly isClosed: boolean;
  /** Aborted once the stream is over, for whatever reason. */
  readonly closed: AbortSignal;
  /** The reader was disconnected because it was slow. */
  readonly wasSlow: boolean;
}

/** Headers that every event stream has. */
const streamHeaders: OutgoingHttpHeaders = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-store, no-transform",
  // Some proxies hold answers back until they are complete.
  "X-Accel-Buffering": "no",
};

/** Sends the head at once, so that the client knows what it follows before the first event. */
export function openEventSink(outgoing: ServerResponse, headers: OutgoingHttpHeaders): EventSink {
  outgoing.writeHead(200, { ...securityHeaders, ...streamHeaders, ...headers });
  outgoing.write(encodeRetry(RETRY_MS));
  return new Sink(outgoing);
}

class Sink implements EventSink {
  readonly #outgoing: ServerResponse;
  readonly #controller = new AbortController();
  wasSlow = false;

  constructor(outgoing: ServerResponse) {
    this.#outgoing = outgoing;
    outgoing.on("error", () => undefined);
    outgoing.on("close", () => this.#controller.abort());
  }

  get isClosed(): boolean {
    return this.#controller.signal.aborted;
  }

  get closed(): AbortSignal {
    return this.#controller.signal;
  }

  send(frames: Buffer | string): void {
    if (this.isClosed || frames.length === 0) return;
    this.#outgoing.write(frames);
    if (this.#outgoing.writableLength > MAX_UNSENT) {
      this.wasSlow = true;
      this.#outgoing.destroy();
    }
  }

  async drain(): Promise<void> {
    if (this.isClosed || !this.#outgoing.writableNeedDrain) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.#outgoing.off("drain", done);
        this.closed.removeEventListener("abort", done);
        resolve();
      };
      this.#outgoing.on("drain", done);
      this.closed.addEventListener("abort", done);
    });
  }

  beat(): void {
    // A reader that still has something to read needs no sign.
    if (this.#outgoing.writableLength === 0) this.send(encodeHeartbeat());
  }

  end(): void {
    if (!this.isClosed) this.#outgoing.end();
  }

  cut(): void {
    this.#outgoing.destroy();
  }
}
