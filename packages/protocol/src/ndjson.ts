/** Reads newline-delimited JSON, the transport whose records are the envelope `{"id","event","data"}` (X15). */
import { LineSplitter } from "./line-splitter.ts";

/** A line; an invalid one is a value too, so that a reader can continue after it. */
export type NdjsonRecord =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly line: string; readonly error: string };

export interface NdjsonDecoder {
  push(chunk: string): NdjsonRecord[];
  /** Reads a last line without a line end. */
  end(): NdjsonRecord[];
}

export interface NdjsonDecoderOptions {
  /** Longest line in UTF-16 units, default 16 Mi. A longer line is invalid; only this much of it stays in memory. */
  readonly maxLineLength?: number;
}

/** Reads records, however they are chunked. Skips blank lines and accepts CRLF. Never throws. */
export function createNdjsonDecoder(options: NdjsonDecoderOptions = {}): NdjsonDecoder {
  return new Decoder(options.maxLineLength ?? 16 * 1024 * 1024);
}

class Decoder implements NdjsonDecoder {
  readonly #maxLineLength: number;
  readonly #lines: LineSplitter;
  #records: NdjsonRecord[] = [];

  constructor(maxLineLength: number) {
    this.#maxLineLength = maxLineLength;
    this.#lines = new LineSplitter("\n", maxLineLength, (line, cut) => this.#read(line, cut));
  }

  push(chunk: string): NdjsonRecord[] {
    this.#lines.push(chunk);
    return this.#take();
  }

  end(): NdjsonRecord[] {
    this.#lines.end();
    return this.#take();
  }

  #read(line: string, cut: boolean): void {
    if (cut) {
      const error = `the line is longer than ${this.#maxLineLength} characters`;
      this.#records.push({ ok: false, line, error });
    } else if (line.trim() !== "") {
      this.#records.push(parseLine(line));
    }
  }

  #take(): NdjsonRecord[] {
    const records = this.#records;
    this.#records = [];
    return records;
  }
}

function parseLine(line: string): NdjsonRecord {
  try {
    return { ok: true, value: JSON.parse(line) as unknown };
  } catch (error) {
    return { ok: false, line, error: error instanceof Error ? error.message : String(error) };
  }
}
