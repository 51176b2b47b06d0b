/** The raw output of one event stream, with back-pressure (N55, R-08). */
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Writable } from "node:stream";
import { encodeHeartbeat, encodeRetry } from "@sheaf/protocol/encode";
import { securityHeaders } from "./security-headers.ts";

/** Time that a reader should wait before it connects again. Milliseconds (X2). */
const RETRY_MS = 1000;

/** The time after which a stuck reader loses its stream. Milliseconds. */
const STUCK_MS = 15 * 60_000;

/** Frames as bytes, made once for all readers of a stream. */
export interface Frames {
  readonly bytes: Buffer;
  /** The same as one chunk of HTTP/1.1 (RFC 9112, 7.1). */
  readonly chunk: Buffer;
}

/** Returns undefined for an empty text. */
export function toFrames(text: string): Frames | undefined {
  if (text === "") return undefined;
  const length = Buffer.byteLength(text);
  const head = `${length.toString(16)}\r\n`;
  const chunk = Buffer.from(`${head}${text}\r\n`);
  return { chunk, bytes: chunk.subarray(head.length, head.length + length) };
}

/** Headers that every event stream has. */
const streamHeaders: OutgoingHttpHeaders = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-store, no-transform",
  // Some proxies hold answers back until they are complete.
  "X-Accel-Buffering": "no",
};

/** Sends the head at once, so that the client knows the response before its first event. */
export function openEventSink(outgoing: ServerResponse, headers: OutgoingHttpHeaders): EventSink {
  outgoing.writeHead(200, { ...securityHeaders, ...streamHeaders, ...headers });
  outgoing.write(encodeRetry(RETRY_MS));
  return new EventSink(outgoing);
}

/** The output of one reader's events. */
export class EventSink {
  readonly #outgoing: ServerResponse;
  /**
   * Writes chunks directly to the socket, since Node would write each as four parts. Undefined while an earlier answer
   * is on its way on the same connection, and for a client of HTTP/1.0.
   */
  readonly #socket: Writable | undefined;
  readonly #controller = new AbortController();
  /** Writes after the end would go into the next answer on this connection. */
  #hasEnded = false;

  readonly #stuckMs: number;

  constructor(outgoing: ServerResponse, stuckMs = STUCK_MS) {
    this.#outgoing = outgoing;
    this.#stuckMs = stuckMs;
    this.#socket = outgoing.chunkedEncoding ? (outgoing.socket ?? undefined) : undefined;
    outgoing.on("error", () => undefined);
    outgoing.on("close", () => this.#controller.abort());
    // A client that left earlier gets no event; the caller can listen before this abort.
    if (outgoing.destroyed) queueMicrotask(() => this.#controller.abort());
  }

  /** True if the reader left or was disconnected. */
  get isClosed(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Aborts once the stream is over, for whatever reason. */
  get closed(): AbortSignal {
    return this.#controller.signal;
  }

  /** True if the reader must read first. The caller remembers the reader's position, and waits for `drain`. */
  get isFull(): boolean {
    return (this.#socket ?? this.#outgoing).writableNeedDrain;
  }

  /** Writes at once. */
  send(frames: Frames | string): void {
    if (this.isClosed || this.#hasEnded) return;
    const made = typeof frames === "string" ? toFrames(frames) : frames;
    if (!made) return;
    if (this.#socket) this.#socket.write(made.chunk);
    else this.#outgoing.write(made.bytes);
  }

  /** Resolves when the reader may get more, left, or `patienceMs` passed. By default it cuts off a stuck reader. */
  async drain(patienceMs = this.#stuckMs): Promise<void> {
    const way = this.#socket ?? this.#outgoing;
    if (this.isClosed || !this.isFull) return;
    const change = Promise.withResolvers<void>();
    const end = (): void => change.resolve();
    const timer = setTimeout(end, patienceMs);
    way.on("drain", end);
    this.closed.addEventListener("abort", end);
    await change.promise;
    clearTimeout(timer);
    way.off("drain", end);
    this.closed.removeEventListener("abort", end);
    if (patienceMs === this.#stuckMs && this.isFull) this.cut();
  }

  /** Sends a sign of life (X5). */
  beat(): void {
    // A reader that still has data to read needs no sign.
    if (this.#outgoing.writableLength === 0) this.send(encodeHeartbeat());
  }

  /** Ends the stream after its last event. */
  end(): void {
    this.#hasEnded = true;
    if (this.isClosed) return;
    this.#outgoing.end();
    const timer = setTimeout(() => this.cut(), this.#stuckMs).unref();
    this.closed.addEventListener("abort", () => clearTimeout(timer));
  }

  /** Breaks off the stream, so that the reader connects again (N51). */
  cut(): void {
    this.#outgoing.destroy();
  }
}

/** Creates the timer of all streams, which sends signs of life. */
export function createHeartbeat(everyMs: number) {
  const sinks = new Set<EventSink>();
  const timer = setInterval(() => {
    for (const sink of sinks) sink.beat();
  }, everyMs);
  timer.unref();
  return {
    /** Sends signs of life to a reader until its stream is over. */
    add(sink: EventSink): void {
      sinks.add(sink);
      sink.closed.addEventListener("abort", () => sinks.delete(sink), { once: true });
    },
    close: (): void => clearInterval(timer),
  };
}

export type Heartbeat = ReturnType<typeof createHeartbeat>;
