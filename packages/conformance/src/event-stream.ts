/** One event stream of the server under test, with everything received. */
import { createSseDecoder, type SseDecoder, type SseMessage, type StreamEvent } from "@sheaf/protocol";
import { explainStreamEvent } from "@sheaf/protocol/validate";
import { demand, demandNone, Violation } from "./violation.ts";

export interface EventStreamOptions {
  readonly waitMs: number;
  /** Address of the stream, for messages. */
  readonly address: string;
  readonly controller: AbortController;
  /** True if the messages stay unread, because they aren't events of a response. */
  readonly isOther: boolean;
}

export class EventStream {
  readonly headers: Headers;
  /** Everything received, in order. */
  readonly events: StreamEvent[] = [];
  /** The messages as they arrived. Only a response stream also has `events`. */
  readonly messages: SseMessage[] = [];
  /** The body so far. */
  text = "";
  readonly #options: EventStreamOptions;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #sse: SseDecoder = createSseDecoder();
  readonly #utf8 = new TextDecoder("utf-8", { fatal: true });
  #byteCount = 0;
  #hasEnded = false;
  #waitsSince = 0;

  /** @throws Violation if the answer is not an event stream. */
  constructor({ headers, body }: Response, options: EventStreamOptions) {
    const type = headers.get("content-type") ?? "none";
    if (!/^text\/event-stream\s*(;|$)/i.test(type)) {
      options.controller.abort();
      throw new Violation("N43", `${options.address}: the content type is ${type}, not text/event-stream`);
    }
    this.headers = headers;
    this.#options = options;
    this.#reader = body?.getReader();
  }

  /** Comment lines so far (X5). */
  get comments(): number {
    return this.#sse.comments;
  }

  /** Milliseconds of the `retry:` field (X2). */
  get retry(): number | undefined {
    return this.#sse.retry;
  }

  /** Reads until the condition holds. @throws Violation if the stream ends or falls silent before. */
  async readUntil(holds: (stream: EventStream) => boolean, what: string): Promise<void> {
    this.#waitsSince = performance.now();
    while (!holds(this)) {
      const hasMore = await this.#read(what);
      if (hasMore || holds(this)) continue;
      throw new Violation("N51", `${this.#options.address}: the stream ended before ${what}`);
    }
  }

  /** Reads until an event matches; it may be one received already. */
  async find(fits: (event: StreamEvent) => boolean, what: string): Promise<StreamEvent> {
    await this.readUntil(({ events }) => events.some(fits), what);
    return this.events.find(fits)!;
  }

  /** Reads to the end of the body; returns all events. @throws Violation if the server does not end it. */
  async readToEnd(): Promise<readonly StreamEvent[]> {
    this.#waitsSince = performance.now();
    while (await this.#read("the end of the stream"));
    return this.events;
  }

  /** Reads until that many bytes have arrived, or the body ends. */
  async readBytes(count: number): Promise<void> {
    this.#waitsSince = performance.now();
    while (this.#byteCount < count && (await this.#read(`byte ${count}`)));
  }

  close(): void {
    this.#options.controller.abort();
  }

  /** Reads one more piece of the body; returns false at its end. */
  async #read(what: string): Promise<boolean> {
    if (this.#hasEnded) return false;
    const { waitMs, address, controller } = this.#options;
    const left = waitMs - (performance.now() - this.#waitsSince);
    const timer = setTimeout(() => controller.abort(), Math.max(0, left));
    try {
      const { value, done } = (await this.#reader?.read()) ?? { done: true, value: undefined };
      this.#hasEnded = done;
      if (value) this.#take(value);
      return !done;
    } catch (error) {
      if (error instanceof Violation) throw error;
      if (controller.signal.aborted) throw new Violation("N51", `${address}: no data for ${waitMs} ms, before ${what}`);
      throw new Violation("N51", `${address}: the connection broke before ${what}`);
    } finally {
      clearTimeout(timer);
    }
  }

  #take(chunk: Uint8Array): void {
    this.#byteCount += chunk.length;
    let text = "";
    try {
      text = this.#utf8.decode(chunk, { stream: true });
    } catch {
      throw new Violation("N43", `${this.#options.address}: the stream is not UTF-8`);
    }
    this.text += text;
    for (const message of this.#sse.push(text)) {
      const { id, event, data } = message;
      this.messages.push(message);
      // Heartbeats keep a connection alive; only an event is progress.
      this.#waitsSince = performance.now();
      if (this.#options.isOther) continue;
      // A base stream has no ids: its events are numbered.
      const number = id === "" ? this.events.length + 1 : Number(id);
      const parsed = { id: number, event, data: parsePayload(data, event) };
      demandNone(explainStreamEvent(parsed), "N43", `${this.#options.address}: event ${id} ${event}`);
      this.events.push(parsed as StreamEvent);
    }
  }
}

function parsePayload(data: string, event: string): unknown {
  demand(!data.includes("\n"), "N43", `the payload of ${event} has more than one data line`);
  try {
    return JSON.parse(data);
  } catch {
    throw new Violation("N43", `the payload of ${event} is not JSON: ${data.slice(0, 100)}`);
  }
}
