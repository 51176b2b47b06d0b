/** Reads JSON while a model writes it: the arguments of a tool, as they are streamed. */
import { parseJson } from "@sheaf/protocol/check-value";
import { isHighSurrogate, replaceHalves } from "./characters.ts";

/**
 * A piece or the end of a string, at any depth. `path` is a JSON pointer (RFC 6901), for instance `/content` or
 * `/edits/0/new_string`. The deltas, joined, are the string's value; half a surrogate pair waits for its other half.
 */
export type JsonScanEvent =
  | { readonly type: "string_delta"; readonly path: string; readonly delta: string }
  | { readonly type: "string_end"; readonly path: string };

export interface JsonScanner {
  /** Takes the next piece of the text, cut anywhere. Never throws. */
  push(chunk: string): readonly JsonScanEvent[];
  /** The state `broken` means that the text is not JSON and has no more events; `done`, that the value is complete. */
  readonly state: "open" | "done" | "broken";
}

/**
 * Creates a scanner. It reads each character once, so the cost is linear even for tiny pieces. Use it to show an
 * unfinished text. For the value itself, call `JSON.parse` once with the whole text.
 */
export function createJsonScanner(): JsonScanner {
  return new Scanner();
}

/** The expected part of the text, or the part around the next character. */
type Phase = "value" | "key" | "colon" | "after" | "string" | "escape" | "token";

const none: readonly JsonScanEvent[] = [];

/** Most levels of nesting: deeper nesting is treated as an attack. */
const maxNesting = 512;

/** The characters that may follow a backslash and, in the same order, their values. */
const escapes = '"\\/bfnrt';
const escaped = '"\\/\b\f\n\r\t';

const quote = 0x22;
const backslash = 0x5c;

/** An open object or array. */
interface Frame {
  readonly isArray: boolean;
  readonly path: string;
  /** Index of the next item, for an array. */
  index: number;
}

class Scanner implements JsonScanner {
  state: "open" | "done" | "broken" = "open";
  readonly #frames: Frame[] = [];
  #phase: Phase = "value";
  /** True if the object or array may end here: it is empty so far, or a value is complete. */
  #mayClose = false;
  /** Path of the current value. */
  #path = "";
  #inKey = false;
  /** Decoded text of the string that is not emitted yet, or the key so far. */
  #text = "";
  /** An escape, number or literal so far. */
  #token = "";
  #events: JsonScanEvent[] | undefined;

  push(chunk: string): readonly JsonScanEvent[] {
    let at = 0;
    while (at < chunk.length && this.state !== "broken") {
      if (this.#phase === "string") {
        at = this.#scanString(chunk, at);
      } else {
        if (!this.#takeCharacter(chunk.charAt(at))) this.state = "broken";
        at += 1;
      }
    }
    if (!this.#inKey) this.#flushText(true);
    const events = this.#events;
    this.#events = undefined;
    return events ?? none;
  }

  /** Reads text up to its end, an escape or the end of the chunk. */
  #scanString(chunk: string, start: number): number {
    for (let at = start; at < chunk.length; at += 1) {
      const code = chunk.charCodeAt(at);
      if (code === quote || code === backslash) {
        this.#text += chunk.slice(start, at);
        this.#token = "";
        if (code === quote) this.#endString();
        else this.#phase = "escape";
        return at + 1;
      }
      if (code < 0x20) {
        this.state = "broken";
        return at;
      }
    }
    this.#text += start === 0 ? chunk : chunk.slice(start);
    return chunk.length;
  }

  /** Takes one character outside of plain text; returns false if it is not allowed there. */
  #takeCharacter(character: string): boolean {
    if (this.#phase === "escape") return this.#takeEscape(character);
    if (this.#phase === "token") {
      if (/[-+.0-9A-Za-z]/.test(character)) {
        this.#token += character;
        return true;
      }
      this.#endValue();
      if (parseJson(this.#token) === undefined) return false;
    }
    return /[ \n\r\t]/.test(character) || this.#takeMark(character);
  }

  #takeEscape(character: string): boolean {
    this.#token += character;
    if (this.#token.startsWith("u") && this.#token.length < 5) return true;
    const value = escaped[escapes.indexOf(this.#token)] ?? parseJson(`"\\${this.#token}"`);
    if (value === undefined) return false;
    this.#text += value as string;
    this.#phase = "string";
    return true;
  }

  /** Takes a character between keys and values, or a value's first one. */
  #takeMark(character: string): boolean {
    const frame = this.#frames.at(-1);
    const isArray = frame?.isArray === true;
    if (this.#mayClose && character === (isArray ? "]" : "}")) {
      this.#frames.pop();
      this.#endValue();
      return true;
    }
    this.#mayClose = false;
    switch (this.#phase) {
      case "key":
        this.#phase = "string";
        this.#inKey = true;
        return character === '"';
      case "colon":
        this.#phase = "value";
        return character === ":";
      case "after":
        this.#phase = isArray ? "value" : "key";
        return frame !== undefined && character === ",";
      default:
        if (isArray) {
          this.#path = `${frame.path}/${frame.index}`;
          frame.index += 1;
        }
        return this.#startValue(character);
    }
  }

  #startValue(character: string): boolean {
    if (character === "{" || character === "[") {
      const isArray = character === "[";
      this.#phase = isArray ? "value" : "key";
      this.#mayClose = true;
      return this.#frames.push({ isArray, path: this.#path, index: 0 }) <= maxNesting;
    }
    this.#phase = character === '"' ? "string" : "token";
    this.#token = character;
    return /["\-0-9tfn]/.test(character);
  }

  #endString(): void {
    if (this.#inKey) {
      const name = this.#text.replaceAll("~", "~0").replaceAll("/", "~1");
      this.#path = `${this.#frames.at(-1)?.path}/${name}`;
      this.#inKey = false;
      this.#text = "";
      this.#phase = "colon";
      return;
    }
    this.#flushText(false);
    this.#emit({ type: "string_end", path: this.#path });
    this.#endValue();
  }

  #endValue(): void {
    this.#phase = "after";
    this.#mayClose = this.#frames.length > 0;
    if (!this.#mayClose) this.state = "done";
  }

  /** Emits the decoded text, except half of a surrogate pair whose other half may follow. */
  #flushText(more: boolean): void {
    const text = this.#text;
    const end = more && isHighSurrogate(text.charCodeAt(text.length - 1)) ? text.length - 1 : text.length;
    this.#text = text.slice(end);
    if (end > 0) this.#emit({ type: "string_delta", path: this.#path, delta: replaceHalves(text.slice(0, end)) });
  }

  #emit(event: JsonScanEvent): void {
    if (this.#events === undefined) this.#events = [event];
    else this.#events.push(event);
  }
}
