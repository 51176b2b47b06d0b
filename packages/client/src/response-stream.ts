/** A response as it arrives: one series of events, over any number of connections. */
import {
  createReducer,
  createStreamDecoder,
  type ChatResponse,
  type Reducer,
  type StreamDecoder,
  type StreamEvent,
} from "@sheaf/protocol";
import { createConnection } from "./connection.ts";
import { ConnectionError, SheafApiError, StreamBrokenError } from "./errors.ts";
import { isRetryable, toDelay, waitFor, type ReconnectOptions } from "./reconnect.ts";
import type { Transport, TransportRequest } from "./transport.ts";

/** One event, and the response so far. */
export interface Update {
  readonly event: StreamEvent;
  /** The response as a value, which never changes. Unchanged documents are the same objects as in the last update. */
  readonly response: ChatResponse;
}

/** The state of a stream: it connects, reads, or waits before it reconnects. */
export type ConnectionState = "connecting" | "open" | "waiting";

/** Options of every stream. */
export interface StreamOptions {
  /** Ends reading; pending reads throw its reason. The run continues, unless `onDisconnect` is set (X7). */
  readonly signal?: AbortSignal | undefined;
  /** Called after each change. `reason`: the cause of a wait; undefined if a body ended normally. */
  readonly onConnection?: ((state: ConnectionState, reason?: unknown) => void) | undefined;
}

/**
 * The first `next` starts reading, which works once. The iteration ends only when the response has ended: after `done`,
 * or after a snapshot of an ended response (N51). Each id occurs once, and ids increase.
 * @throws SheafApiError if the server refuses the request.
 * @throws ConnectionError if the server cannot be reached at all.
 * @throws StreamBrokenError if the stream broke and could not be resumed.
 */
export interface ResponseStream extends AsyncIterable<Update> {
  /** Id of the response, once the server has answered. */
  readonly responseId: string | undefined;
  /** Id of the conversation, once the server has answered. */
  readonly conversationId: string | undefined;
  /** The response so far; its `status` is `streaming` until `done`. */
  readonly response: ChatResponse;
  /** Highest id received; 0 before the first. */
  readonly lastEventId: number;
  /** Number of events and fields that this version does not know (X14). */
  readonly ignored: number;
  /**
   * Reads to the end and returns the complete response, however it ended (see its `status`). Calls `onEvent` for each
   * event once that is in `response`. With thousands of documents this is much cheaper than the iteration, which makes
   * a response for each event.
   */
  readToEnd(onEvent?: (event: StreamEvent) => void): Promise<ChatResponse>;
  /** Ends a wait for the next connection, for instance because the network is back. */
  reconnect(): void;
}

/** The position where a stream starts. */
export interface StreamStart {
  /** Id of the response; undefined until the answer to `chat`. */
  readonly responseId?: string;
  /** The request that opens connections until the response has an id. Safe to repeat (X9). */
  readonly request?: {
    readonly path: string;
    readonly options: TransportRequest;
    /** True if the answer may wait for the end of another response. */
    readonly isQueued: boolean;
  };
  /** True to request a snapshot and later events (X3). */
  readonly snapshot?: boolean | undefined;
  /** True to request `reasoning_delta` events (N14). */
  readonly reasoning?: boolean | undefined;
  /** Id of the event to continue after. */
  readonly after?: number | undefined;
  /** Snapshot to continue after (N3). */
  readonly from?: ChatResponse | undefined;
}

export interface StreamSettings {
  readonly transport: Transport;
  readonly reconnect: Required<ReconnectOptions>;
  /** Milliseconds between heartbeats, until the server sends its own value (X5). */
  readonly heartbeatMs: number;
}

export function createResponseStream(
  start: StreamStart,
  settings: StreamSettings,
  options: StreamOptions = {},
): ResponseStream {
  return new Stream(start, settings, options);
}

/** Bounds for heartbeats, so that a server can't make its clients hang, or hammer it. */
const leastHeartbeatMs = 100;
const mostHeartbeatMs = 300_000;

/** Tries to reach a server that never answered. They are few, because a person may be waiting. */
const firstTries = 3;

class Stream implements ResponseStream {
  responseId: string | undefined;
  readonly #start: StreamStart;
  readonly #settings: StreamSettings;
  readonly #options: StreamOptions;
  #reducer: Reducer = createReducer();
  #conversationId: string | undefined;
  #heartbeatMs: number;
  /** Milliseconds from the server's `retry:` (X2). */
  #retry: number | undefined;
  #unreadable = 0;
  #after: number;
  /** True if the last connection received anything: then the count of tries restarts. */
  #hasProgress = false;
  #isTaken = false;
  #isOpened = false;
  #wake = new AbortController();

  constructor(start: StreamStart, settings: StreamSettings, options: StreamOptions) {
    this.#start = start;
    this.#settings = settings;
    this.#options = options;
    this.#heartbeatMs = settings.heartbeatMs;
    this.responseId = start.responseId;
    const { from } = start;
    this.#after = start.after ?? from?.metadata.lastEventId ?? 0;
    // A streaming response without its last event id can't be continued: its deltas would arrive twice.
    if (from && (from.status !== "streaming" || this.#after > 0)) this.#replace(from);
  }

  get response(): ChatResponse {
    return this.#reducer.response;
  }

  get conversationId(): string | undefined {
    return this.response.conversationId || this.#conversationId;
  }

  get lastEventId(): number {
    return Math.max(this.#after, this.#reducer.lastEventId);
  }

  get ignored(): number {
    return this.#reducer.ignored + this.#unreadable;
  }

  /** True if the server may rightly stay silent for now. */
  get #isQueued(): boolean {
    return this.responseId === undefined && this.#start.request?.isQueued === true;
  }

  [Symbol.asyncIterator](): AsyncGenerator<Update> {
    return this.#begin((event) => ({ event, response: this.response }));
  }

  async readToEnd(onEvent?: (event: StreamEvent) => void): Promise<ChatResponse> {
    for await (const event of this.#begin((taken) => taken)) onEvent?.(event);
    return this.response;
  }

  #begin<Item>(toItem: (event: StreamEvent) => Item): AsyncGenerator<Item> {
    if (this.#isTaken)
      throw new TypeError("This stream has been read already: use follow() to read the response again.");
    this.#isTaken = true;
    return this.#read(toItem);
  }

  async *#read<Item>(toItem: (event: StreamEvent) => Item): AsyncGenerator<Item> {
    const { signal } = this.#options;
    for (let tries = 0; this.response.status === "streaming";) {
      let cause: unknown;
      this.#hasProgress = false;
      try {
        yield* this.#readConnection(toItem);
      } catch (error) {
        cause = error;
      }
      if (this.response.status !== "streaming") return;
      signal?.throwIfAborted();
      tries = this.#hasProgress ? 1 : tries + 1;
      this.#checkBreak(tries, cause);
      this.#options.onConnection?.("waiting", cause);
      await this.#wait(this.#toDelay(tries, cause));
    }
  }

  async *#readConnection<Item>(toItem: (event: StreamEvent) => Item): AsyncGenerator<Item> {
    this.#options.onConnection?.("connecting");
    const decoder = createStreamDecoder();
    const silenceMs = (): number => this.#heartbeatMs * 3;
    const connection = createConnection({ signal: this.#options.signal, silenceMs }, decoder);
    const openedAt = performance.now();
    const answer = await connection.open((signal) => this.#connect(signal), this.#isQueued);
    if (!("headers" in answer)) {
      this.#hasProgress = true;
      yield toItem(this.#replace(answer));
      return;
    }
    await this.#checkAnswer(answer);
    this.#isOpened = true;
    this.#options.onConnection?.("open");
    try {
      for await (const events of connection.read(answer)) {
        for (const event of events) {
          if (event.id <= this.lastEventId) continue;
          this.#take(event);
          yield toItem(event);
          // Reading the response copies its list; only these events can end it.
          if ((event.event === "done" || event.event === "snapshot") && this.response.status !== "streaming") return;
        }
      }
    } finally {
      this.#leave(decoder, openedAt);
    }
  }

  /** Opens the next connection. If the server has no events, returns the response itself (N51). */
  async #connect(signal: AbortSignal): Promise<Response | ChatResponse> {
    const { transport } = this.#settings;
    const { request, snapshot, reasoning } = this.#start;
    const accept = "text/event-stream";
    const { responseId } = this;
    if (responseId === undefined && request) return transport(request.path, { ...request.options, accept, signal });
    const path = `/v1/responses/${encodeURIComponent(responseId ?? "")}`;
    const place = snapshot && this.lastEventId === 0 ? "snapshot=1" : `after=${this.lastEventId}`;
    try {
      const answer = await transport(`${path}/events?${place}${reasoning ? "&reasoning=1" : ""}`, { accept, signal });
      if (answer.status !== 204) return answer;
    } catch (error) {
      if (!isLogMissing(error)) throw error;
    }
    try {
      return (await (await transport(path, { signal })).json()) as ChatResponse;
    } catch (cause) {
      if (!request || this.lastEventId > 0 || !isLogMissing(cause)) throw cause;
      // The server may have cancelled the message, so the client doesn't send it again.
      const message = `${responseId} was lost before it started, because a server that stops keeps no queue: send the message again.`;
      throw new StreamBrokenError(message, { responseId, lastEventId: 0, cause });
    }
  }

  async #checkAnswer({ headers, body }: Response): Promise<void> {
    this.responseId ??= readResponseId(headers);
    this.#conversationId ??= headers.get("x-conversation-id") ?? undefined;
    const type = headers.get("content-type") ?? "";
    if (/^text\/event-stream\s*(;|$)/i.test(type)) return;
    await body?.cancel();
    throw new ConnectionError(`The server answered with ${type || "no content type"}, not with text/event-stream.`);
  }

  /** Takes a whole response, as a snapshot event does (X3). */
  #replace(response: ChatResponse): StreamEvent {
    const id = Math.max(1, response.metadata.lastEventId ?? this.lastEventId);
    const event: StreamEvent = { id, event: "snapshot", data: { response } };
    this.#unreadable += this.#reducer.ignored;
    this.#reducer = createReducer();
    this.#reducer.push(event);
    return event;
  }

  #take(event: StreamEvent): void {
    this.#hasProgress = true;
    this.#reducer.push(event);
    if (event.event !== "response_start") return;
    this.responseId ??= event.data.id;
    this.#heartbeatMs = Math.min(Math.max(event.data.heartbeat_ms, leastHeartbeatMs), mostHeartbeatMs);
  }

  #leave(decoder: StreamDecoder, openedAt: number): void {
    this.#retry = decoder.retry ?? this.#retry;
    this.#unreadable += decoder.unreadable;
    // A run can continue in silence behind a proxy that cuts long connections.
    if (decoder.comments > 0 && performance.now() - openedAt >= this.#heartbeatMs) this.#hasProgress = true;
  }

  reconnect(): void {
    this.#wake.abort();
  }

  async #wait(milliseconds: number): Promise<void> {
    this.#wake = new AbortController();
    await waitFor(milliseconds, [this.#wake.signal, this.#options.signal]);
    this.#options.signal?.throwIfAborted();
  }

  /** @throws if reconnecting makes no sense */
  #checkBreak(tries: number, cause: unknown): void {
    const { reconnect } = this.#settings;
    const { responseId, lastEventId } = this;
    const isHopeless = !this.#isOpened && cause instanceof ConnectionError && cause.isWrongAddress;
    // A full queue has room once a response ends, so its sender decides how long to wait.
    const isFull = this.#isQueued && cause instanceof SheafApiError && cause.status === 429;
    if (isHopeless || isFull || !isRetryable(cause, reconnect)) throw cause;
    const canJoin = responseId !== undefined || !this.#isOpened;
    const isKnown = this.#isOpened || this.#isQueued;
    const maxTries = isKnown ? reconnect.maxTries : Math.min(reconnect.maxTries, firstTries);
    if (canJoin && tries <= maxTries) return;
    if (cause instanceof SheafApiError || (cause !== undefined && !this.#isOpened)) throw cause;
    const reason = canJoin ? `${tries - 1} more connections brought nothing` : "it has no id to join it again";
    const message = `${responseId ?? "The stream"} is not complete: it broke after event ${lastEventId}, and ${reason}.`;
    throw new StreamBrokenError(message, { responseId, lastEventId, cause });
  }

  #toDelay(tries: number, cause: unknown): number {
    const { reconnect } = this.#settings;
    const delay = toDelay(tries, this.#retry ?? reconnect.delayMs, reconnect);
    return Math.max(delay, (cause instanceof SheafApiError && cause.retryAfter) || 0);
  }
}

/** True if the server has no events of this response, or no longer. */
function isLogMissing(cause: unknown): boolean {
  return cause instanceof SheafApiError && (cause.status === 404 || cause.status === 410);
}

/** Takes only the id from an address, so that an answer can't redirect the token. */
function readResponseId(headers: Headers): string | undefined {
  const named = headers.get("x-response-id");
  if (named) return named;
  const address = headers.get("content-location") ?? headers.get("location") ?? "";
  const id = /\/v1\/responses\/([^/?#]+)/.exec(address)?.[1];
  return id === undefined ? undefined : decodeURIComponent(id);
}
