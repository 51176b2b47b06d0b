/** Server-Sent Events: a decoder as in the HTML standard, for any chunks. */
import { LineSplitter } from "./line-splitter.ts";
import { parseJson } from "./json-object.ts";

/** One dispatched event. */
export interface SseMessage {
  /** Name of the event; `message` in a stream without names. */
  readonly event: string;
  /** All `data` lines, joined with LF. */
  readonly data: string;
  /** The last event id at that moment; an id stays until the next one. */
  readonly id: string;
}

export interface SseDecoder {
  push(chunk: string): SseMessage[];
  /** Ends the body. Drops an unfinished event, or accepts it with `lenientTail`. */
  end(): SseMessage[];
  /** Id of the last complete event, with or without data. */
  readonly lastEventId: string;
  /** The server's retry time; undefined until the server sends it. Milliseconds. */
  readonly retry: number | undefined;
  /** Comment lines so far; heartbeats are comments (X5). */
  readonly comments: number;
  /** Number of events dropped because they were longer than `maxEventLength`. */
  readonly dropped: number;
}

export interface SseDecoderOptions {
  /** True to accept an unfinished last event if its data is JSON, for providers that forget the last blank line. */
  readonly lenientTail?: boolean;
  /** Longest data of one event, in UTF-16 units; default 64 Mi. */
  readonly maxEventLength?: number;
}

/**
 * Reads an event stream (HTML standard, "parsing an event stream") from text, however it is chunked. LF, CR and CRLF
 * end lines, even when a chunk ends between CR and LF; drops a leading byte order mark. Never throws.
 */
export function createSseDecoder(options: SseDecoderOptions = {}): SseDecoder {
  return new Decoder(options);
}

class Decoder implements SseDecoder {
  lastEventId = "";
  retry: number | undefined;
  comments = 0;
  dropped = 0;
  readonly #options: SseDecoderOptions;
  readonly #maxEventLength: number;
  readonly #lines: LineSplitter;
  #messages: SseMessage[] = [];
  #atStart = true;
  #event = "";
  /** Undefined before the first `data` line. */
  #data: string | undefined;
  #overlong = false;
  #id = "";

  constructor(options: SseDecoderOptions) {
    this.#options = options;
    this.#maxEventLength = options.maxEventLength ?? 64 * 1024 * 1024;
    const maxLength = this.#maxEventLength + 16;
    this.#lines = new LineSplitter("\r\n", maxLength, (line, cut) => this.#readLine(line, cut));
  }

  push(chunk: string): SseMessage[] {
    this.#lines.push(this.#atStart ? chunk.replace(/^\uFEFF/, "") : chunk);
    if (chunk !== "") this.#atStart = false;
    return this.#take();
  }

  end(): SseMessage[] {
    if (this.#options.lenientTail) {
      this.#lines.end();
      if (this.#data !== undefined && parseJson(this.#data) !== undefined) this.#dispatch();
    }
    this.#reset();
    return this.#take();
  }

  #readLine(line: string, cut: boolean): void {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) {
      this.comments += 1;
    } else if (cut) {
      this.#overlong = true;
    } else if (colon < 0) {
      this.#readField(line, "");
    } else {
      this.#readField(line.slice(0, colon), line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1));
    }
  }

  #readField(name: string, value: string): void {
    if (name === "data") this.#readData(value);
    else if (name === "event") this.#event = value;
    else if (name === "id" && !value.includes("\0")) this.#id = value;
    else if (name === "retry" && /^\d+$/.test(value)) this.retry = Number(value);
  }

  #readData(value: string): void {
    if (this.#overlong) return;
    this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
    this.#overlong = this.#data.length > this.#maxEventLength;
  }

  #dispatch(): void {
    this.lastEventId = this.#id;
    if (this.#overlong) {
      this.dropped += 1;
    } else if (this.#data !== undefined) {
      this.#messages.push({ event: this.#event || "message", data: this.#data, id: this.#id });
    }
    this.#reset();
  }

  #reset(): void {
    this.#event = "";
    this.#data = undefined;
    this.#overlong = false;
  }

  #take(): SseMessage[] {
    const messages = this.#messages;
    this.#messages = [];
    return messages;
  }
}
